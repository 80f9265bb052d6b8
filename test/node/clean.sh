#!/bin/sh
# Takes away what a node leaves behind when its programs have ended: containers, mounts, control groups, rules and its link.
# $1 is the node's folder.
folder=$1

for process in /proc/[0-9]*; do
  case $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null) in
    */containerd-shim-runc-v2\ *"-address $folder/"*)
      cat "$process"/task/*/children 2>/dev/null | xargs -r kill -9 2>/dev/null
      kill -9 "${process#/proc/}" 2>/dev/null
      ;;
  esac
done

awk -v "under=$folder/" 'index($2, under) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do
  umount -l "$mount"
done

# a control group lives for a moment longer than its last process
for _ in 1 2 3 4 5; do
  groups=$(find /sys/fs/cgroup -depth -type d -path '*/kubepods*' 2>/dev/null)
  [ -n "$groups" ] || break
  echo "$groups" | xargs -r rmdir 2>/dev/null || sleep 0.2
done
find /var/log/containers -lname "$folder/*" -delete 2>/dev/null
rm -f /var/lib/cni/results/realmkeeper-*

for rules in iptables ip6tables; do
  command -v $rules >/dev/null || continue
  for table in nat filter mangle; do
    saved=$($rules-save -t $table 2>/dev/null | grep KUBE-) || continue
    {
      echo "*$table"
      echo "$saved" | sed -n 's/^-A \([A-Z]* .*\)/-D \1/p'
      echo "$saved" | sed -n 's/^:\(KUBE-[^ ]*\) .*/-F \1/p'
      echo "$saved" | sed -n 's/^:\(KUBE-[^ ]*\) .*/-X \1/p'
      echo COMMIT
    } | $rules-restore --noflush
  done
done
ip link del rk0 2>/dev/null
exit 0
