#compdef zkchat
# Completion of zkchat for Zsh, printed by `zkchat config completion zsh`.
_zkchat() {
    local program=zkchat line value about
    local -a lines values shown rest
    [[ $words[1] == */* ]] && program=${words[1]/#\~\//$HOME/}
    lines=("${(@f)$(_ZKCHAT_COMPLETE=complete_zsh "$program" "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
    case $lines[1] in
        files) _files; return ;;
        folders) _files -/; return ;;
        open) rest=(-S '') ;;
        words) ;;
        *) return 1 ;;
    esac
    for line in "${(@)lines[2,-1]}"; do
        value=${line%%$'\t'*}
        about=${line#*$'\t'}
        values+=("$value")
        shown+=("$value${about:+  -- $about}")
    done
    # -U: zkchat has matched already, without regard to case and accents.
    compadd -U -l -d shown "${rest[@]}" -a values
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _zkchat "$@"
else
    compdef _zkchat zkchat
fi
