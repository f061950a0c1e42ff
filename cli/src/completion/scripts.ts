/**
 * The completion of each shell asks `doorstep __complete` with the words so far, the last one being
 * the word that is completed. It answers with a line a candidate, a tab before its description, and
 * with `:files` alone where the shell completes names of files.
 */
const bash = `# Completion of doorstep for bash.
_doorstep() {
  # bash splits words at "=", ":" and "@". Between such parts of a word there is no blank.
  local cur=\${COMP_WORDS[COMP_CWORD]} rest=$COMP_LINE part line words=() candidates=()
  local -i last=-1
  for part in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if ((last >= 0)) && [[ $rest != [[:blank:]]* && ($part == [=:@]* || \${words[last]} == *[=:@]) ]]; then
      words[last]+=$part
    else
      words[++last]=$part
    fi
    rest=\${rest#*"$part"}
  done
  # What stands before the part that is completed stays.
  [[ $cur == [=:@] ]] && cur=
  local before=\${words[last]%"$cur"}
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames
      while IFS= read -r line; do candidates+=("$line"); done < <(compgen -f -- "$cur")
    else
      line=\${line%%$'\\t'*}
      candidates+=("\${line#"$before"}")
    fi
  done < <(doorstep __complete "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=("\${candidates[@]}")
}
complete -F _doorstep doorstep
`;

const zsh = `#compdef doorstep
# Completion of doorstep for zsh.
_doorstep() {
  local line value
  local -a candidates
  for line in "\${(@f)$(doorstep __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      [[ $PREFIX == --*=* ]] && compset -P 1 '*='
      _files
    elif [[ -n $line ]]; then
      value=\${line%%$'\\t'*}
      value=\${value//:/\\\\:}
      if [[ $line == *$'\\t'* ]]; then candidates+=("$value:\${line#*$'\\t'}"); else candidates+=("$value"); fi
    fi
  done
  (( \${#candidates} )) && _describe -V doorstep candidates
}
# Read by compinit from a folder of $fpath, or by "source".
if [[ $funcstack[1] == _doorstep ]]; then _doorstep "$@"; else compdef _doorstep doorstep; fi
`;

const fish = `# Completion of doorstep for fish.
function __doorstep_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (doorstep __complete $words[2..-1] 2>/dev/null)
    if test "$line" = :files
      set -l current (commandline -ct)
      set -l option (string match -r -- '^--[^=]+=' "$current")
      __fish_complete_path (string replace -- "$option" '' "$current") | string replace -r -- '^' "$option"
    else
      printf '%s\\n' $line
    end
  end
end
complete -c doorstep -f -a '(__doorstep_complete)'
`;

export const completionScripts = { bash, zsh, fish } as const;
