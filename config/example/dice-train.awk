# A base model in a few lines: of each source word, the target word it occurs with most exclusively (Dice 1945).
{
    split($0, side, / \|\|\| /)
    m = split(side[1], s, " "); n = split(side[2], t, " ")
    split("", seen_s); split("", seen_t)
    for (i = 1; i <= m; i++) if (!seen_s[s[i]]++) in_source[s[i]]++
    for (j = 1; j <= n; j++) if (!seen_t[t[j]]++) in_target[t[j]]++
    for (word in seen_s) for (other in seen_t) together[word " " other]++
}
END {
    for (pair in together) {
        split(pair, w, " ")
        dice = 2 * together[pair] / (in_source[w[1]] + in_target[w[2]])
        if (dice > best[w[1]] || (dice == best[w[1]] && w[2] < chosen[w[1]])) { best[w[1]] = dice; chosen[w[1]] = w[2] }
    }
    for (word in chosen) print word, chosen[word]
}
