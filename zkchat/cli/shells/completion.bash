# Completion of zkchat for Bash 4 or newer, printed by `zkchat config completion bash`.
_zkchat() {
    local program=zkchat line
    local -a lines=()
    case $1 in
        */*) program=${1/#\~\//$HOME/} ;;
    esac
    while IFS= read -r line; do
        lines+=("$line")
    done < <(
        _ZKCHAT_COMPLETE=complete_bash COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \
            "$program" 2>/dev/null </dev/null
    )
    COMPREPLY=("${lines[@]:1}")
    case ${lines[0]-} in
        open) compopt -o nospace ;;
        files) compopt -o default ;;
        folders) compopt -o dirnames ;;
    esac
}

complete -F _zkchat zkchat
