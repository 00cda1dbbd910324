# Links every source word to the target words that the dictionary (the first file) pairs it with.
FNR == NR { partner[$1] = $2; next }
{
    split($0, side, / \|\|\| /)
    m = split(side[1], s, " "); n = split(side[2], t, " ")
    links = ""
    for (i = 1; i <= m; i++) for (j = 1; j <= n; j++) if (partner[s[i]] == t[j]) links = links " " i - 1 "-" j - 1
    print substr(links, 2)
}
