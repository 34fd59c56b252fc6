#!/bin/sh
# Before the package is removed (prerm of the .deb, %preun of the .rpm): says so if clients still start their servers through
# Callgate's gate. It only looks and prints: it runs nothing that belongs to a user, and never keeps a package from being removed.

# dpkg says "remove"; rpm says how many versions are left. An upgrade changes nothing for clients.
case "$1" in
    remove | 0) ;;
    *) exit 0 ;;
esac

# Files of users, read by root: only regular ones that are no links, a bounded part of each, for a bounded time. Nothing of what
# they say is printed.
holds_rows() {
    [ -f "$1" ] && [ ! -L "$1" ] || return 1
    timeout 5 head -c 1000000 -- "$1" 2>/dev/null | tr -d ' \t\r\n' | grep -q '"rows":\[{'
}

# A name with something in it that a terminal would obey is not printed as it is.
shown() {
    printf '%s' "$1" | tr -c '[:alnum:] ._/@:+,=-' '?'
}

protected=$({ cut -d: -f6 /etc/passwd; printf '%s\n' /home/* /root; } 2>/dev/null | grep '^/' | sort -u | while IFS= read -r home; do
    if holds_rows "$home/.callgate/ledger.json"; then
        printf '  %s\n' "$(shown "$home")"
    fi
done)

if [ -n "$protected" ]; then
    cat <<WORDS

Callgate is being removed, but AI clients still start their servers through its gate. They go on working: the copy of
the gate in ~/.callgate/bin stays. To take the gate away and put the clients' files back as they were, each of these
users runs, in a terminal of their own:

  ~/.callgate/bin/callgate uninstall

Home folders with protected clients:
$protected

WORDS
fi
exit 0
