# Saves one snapshot into $SNAPSHOTS and keeps the newest $KEEP. The name appears when the file is whole.
set -eu
name="snapshot-$(date -u +%Y%m%dT%H%M%SZ).db"
etcdctl endpoint health # ends after seconds where nobody answers; the next line waits
etcdctl snapshot save "$SNAPSHOTS/.$name"
mv "$SNAPSHOTS/.$name" "$SNAPSHOTS/$name"
rm -f "$SNAPSHOTS"/.snapshot-*.db "$SNAPSHOTS"/.snapshot-*.db.part
ls -1 "$SNAPSHOTS" | grep '^snapshot-.*\.db$' | sort -r | tail -n +$((KEEP + 1)) | while read -r old; do
  rm -f "$SNAPSHOTS/$old"
done
ls -l "$SNAPSHOTS"
