{{/*
  Alerts as a list: name, expression, for, severity, summary, description. Each is something that somebody has to do, and
  says what. `{{ "{{ … }}" }}` is for Prometheus.
*/}}
{{- define "realmkeeper.alerts" -}}
{{- $fullname := include "realmkeeper.fullname" . -}}
{{- $server := printf `namespace="%s",pod=~"%s-server-.+"` .Release.Namespace $fullname -}}
{{- $operator := printf `namespace="%s",pod=~"%s-operator-.+"` .Release.Namespace $fullname -}}
- alert: RealmkeeperServerDown
  expr: absent(up{ {{- $server -}} } == 1)
  for: 2m
  severity: critical
  summary: No Realmkeeper server can be reached
  description: Nobody can sign in. Look at the Pods' events and logs, and at the database.
- alert: RealmkeeperServerNotReady
  expr: kube_deployment_status_replicas_unavailable{namespace="{{ .Release.Namespace }}",deployment="{{ $fullname }}-server"} > 0
  for: 15m
  severity: warning
  summary: Realmkeeper servers are not ready
  description: "{{ "{{ $value }}" }} replicas have not been ready for 15 minutes: a rollout that hangs (a migration that fails says so in the container migrate), a node that is full, or a database that refuses connections."
- alert: RealmkeeperServerErrors
  expr: |-
    sum(rate(http_server_requests_seconds_count{ {{- $server -}},status=~"5.."}[5m]))
      / sum(rate(http_server_requests_seconds_count{ {{- $server -}} }[5m])) > 0.02
  for: 10m
  severity: critical
  summary: Realmkeeper answers with errors
  description: "{{ "{{ $value | humanizePercentage }}" }} of the requests fail (5xx). The log has the cause under the request's id."
- alert: RealmkeeperSignInsFail
  expr: |-
    sum by (realm) (rate(svc_login_total{ {{- $server -}},outcome="failure"}[10m])) > 1
      and sum by (realm) (rate(svc_login_total{ {{- $server -}},outcome="failure"}[10m]))
        > 5 * sum by (realm) (rate(svc_login_total{ {{- $server -}},outcome="success"}[10m]))
  for: 15m
  severity: warning
  summary: Sign-ins of a realm fail far more often than they succeed
  description: "Realm {{ "{{ $labels.realm }}" }}: somebody tries passwords, or an application is broken. The events LOGIN_FAILURE of the realm name addresses and reasons."
- alert: RealmkeeperDeadLetters
  expr: sum by (realm) (increase(svc_webhook_dead_letters_total{ {{- $server -}} }[1h])) > 0
  severity: warning
  summary: Webhook deliveries were given up
  description: "Realm {{ "{{ $labels.realm }}" }}: a receiver has refused events until the last attempt. The webhook's deliveries show its answers, and can be sent again from there."
- alert: RealmkeeperAuditForwardingBehind
  expr: max(svc_audit_forwarding_lag_seconds{ {{- $server -}} }) > 900
  for: 5m
  severity: warning
  summary: The SIEM does not get the audit log
  description: "The oldest event waits for {{ "{{ $value | humanizeDuration }}" }}. Nothing is lost: GET /admin/audit/config has what the receiver said last."
- alert: RealmkeeperAuditEventsCut
  expr: max(increase(svc_audit_forwarding_cut{ {{- $server -}} }[1h])) > 0
  severity: warning
  summary: The SIEM refused audit events, and has them without their data
  description: GET /admin/audit/config names the last of them; the whole event is in the realm's log. Look at the receiver's limits.
{{- if .Values.operator.enabled }}
- alert: RealmkeeperOperatorWithoutLeader
  expr: sum(svc_operator_leader{ {{- $operator -}} } or vector(0)) < 1
  for: 5m
  severity: critical
  summary: No Realmkeeper operator leads
  description: Changes of resources are not applied, and drift is not repaired; the server goes on serving. Look at the operator's Pods and at the Lease {{ $fullname }}-operator.
- alert: RealmkeeperOperatorTwoLeaders
  expr: sum(svc_operator_leader{ {{- $operator -}} }) > 1
  for: 2m
  severity: critical
  summary: Two Realmkeeper operators act at once
  description: A leader that lost its lease should have ended itself. Delete the Pod that the Lease {{ $fullname }}-operator does not name, and report a bug.
- alert: RealmkeeperOperatorCannotReachServer
  expr: svc_operator_server_up{ {{- $operator -}} } == 0 and on (pod) svc_operator_leader{ {{- $operator -}} } == 1
  for: 5m
  severity: warning
  summary: The Realmkeeper operator cannot reach the server, or is not let in
  description: "Its log says which: an address that does not answer, or a refused sign-in (the server's SVC_OPERATOR_SUBJECT and SVC_OPERATOR_AUDIENCE)."
- alert: RealmkeeperReconcilesFail
  expr: sum by (kind) (max by (kind, state) (svc_operator_resources{ {{- $operator -}},state=~"Stalled|Waiting"})) > 0
  for: 15m
  severity: warning
  summary: Realmkeeper resources are not applied
  description: "{{ "{{ $value }}" }} resources of kind {{ "{{ $labels.kind }}" }} have been stalled or waiting for 15 minutes: kubectl get realmkeeper -A shows them, and their condition Ready says why and what to do."
- alert: RealmkeeperDrift
  expr: max by (kind, exported_namespace, name) (svc_operator_drifted{ {{- $operator -}} }) == 1
  for: 1h
  severity: info
  summary: A realm differs from what is declared
  description: "{{ "{{ $labels.kind }} {{ $labels.exported_namespace }}/{{ $labels.name }}" }} differs for an hour, and that is only reported: its condition Drifted lists the fields. Take the change into Git, or undo it."
- alert: RealmkeeperQueueGrows
  expr: svc_operator_queue_depth{ {{- $operator -}} } > 100 and on (pod) svc_operator_leader{ {{- $operator -}} } == 1
  for: 15m
  severity: warning
  summary: The Realmkeeper operator falls behind
  description: "{{ "{{ $value }}" }} resources wait for their turn. A cold start of thousands is no fault; otherwise raise operator.concurrency, or look at how slow the server answers."
- alert: RealmkeeperWatchFails
  expr: sum by (kind) (increase(svc_operator_watch_failures_total{ {{- $operator -}} }[15m])) > 10
  for: 15m
  severity: warning
  summary: The Realmkeeper operator cannot follow a kind of resources
  description: "{{ "{{ $labels.kind }}" }}: the API server refuses or drops the watch again and again. The operator's log has its words (a right that is missing, a CRD that is gone)."
{{- end }}
{{- end }}
