{{/*
  Objectives of sign-ins and tokens: series of the budget that is spent, over the spans that the alerts compare, and alerts when it
  would be spent long before its 30 days. Spans and rates are those of the Google SRE workbook ("Alerting on SLOs").
*/}}
{{- define "realmkeeper.objectiveRecords" -}}
{{- $server := printf `namespace="%s",pod=~"%s-server-.+"` .Release.Namespace (include "realmkeeper.fullname" .) -}}
{{- $objectives := .Values.monitoring.rules.objectives -}}
{{- range $span := list "5m" "30m" "1h" "6h" }}
{{- $counts := printf `sum by (surface) (rate(svc_requests_seconds_count{%s,surface=~"sign-in|token"}[%s]))` $server $span }}
- record: realmkeeper:errors:ratio_rate{{ $span }}
  expr: |-
    (sum by (surface) (rate(svc_requests_seconds_count{ {{- $server -}},surface=~"sign-in|token",outcome="error"}[{{ $span }}])) or 0 * {{ $counts }})
      / {{ $counts }}
  labels: { namespace: {{ $.Release.Namespace }}, service: {{ include "realmkeeper.fullname" $ }} }
{{- range $surface, $seconds := dict "sign-in" $objectives.signInSeconds "token" $objectives.tokenSeconds }}
- record: realmkeeper:slow:ratio_rate{{ $span }}
  expr: |-
    1 - sum by (surface) (rate(svc_requests_seconds_bucket{ {{- $server -}},surface="{{ $surface }}",outcome!="error",le="{{ $seconds }}"}[{{ $span }}]))
      / sum by (surface) (rate(svc_requests_seconds_count{ {{- $server -}},surface="{{ $surface }}",outcome!="error"}[{{ $span }}]))
  labels: { namespace: {{ $.Release.Namespace }}, service: {{ include "realmkeeper.fullname" $ }} }
{{- end }}
{{- end }}
{{- end }}

{{- define "realmkeeper.objectiveAlerts" -}}
{{- $server := printf `namespace="%s",pod=~"%s-server-.+"` .Release.Namespace (include "realmkeeper.fullname" .) -}}
{{- $objectives := .Values.monitoring.rules.objectives -}}
{{- $own := printf `namespace="%s",service="%s"` .Release.Namespace (include "realmkeeper.fullname" .) -}}
{{- $kinds := list
  (dict "series" "errors" "name" "Error" "percent" $objectives.availability "words" "answered with errors")
  (dict "series" "slow" "name" "Latency" "percent" $objectives.fast "words" "answered late") }}
{{- range $kind := $kinds }}
{{- $budget := divf (subf 100 (float64 $kind.percent)) 100 }}
{{- range $burn := list
  (dict "name" "Fast" "rate" 14.4 "long" "1h" "short" "5m" "severity" "critical" "spent" "two days")
  (dict "name" "Slow" "rate" 6.0 "long" "6h" "short" "30m" "severity" "warning" "spent" "five days") }}
- alert: Realmkeeper{{ $kind.name }}BudgetBurns{{ $burn.name }}
  expr: |-
    realmkeeper:{{ $kind.series }}:ratio_rate{{ $burn.long }}{ {{- $own -}} } > {{ mulf $burn.rate $budget }}
      and realmkeeper:{{ $kind.series }}:ratio_rate{{ $burn.short }}{ {{- $own -}} } > {{ mulf $burn.rate $budget }}
  severity: {{ $burn.severity }}
  summary: Too many requests are {{ $kind.words }}
  description: "{{ "{{ $value | humanizePercentage }} of the requests of {{ $labels.surface }}" }} are {{ $kind.words }}. At this rate the budget of 30 days ({{ $kind.percent }} %) is spent in {{ $burn.spent }}. realmctl doctor names slow statements, a database that is late and jobs that wait; the dashboard has the routes."
{{- end }}
{{- end }}
- alert: RealmkeeperJobsLate
  expr: max by (job) (svc_job_due_seconds{ {{- $server -}} }) > {{ $objectives.jobSeconds }}
  for: 5m
  severity: warning
  summary: Jobs of Realmkeeper are due and not done
  description: "{{ "{{ $labels.job }}" }} is due since {{ "{{ $value | humanizeDuration }}" }}: deliveries, messages or synchronizations are late. realmctl doctor says more; look at the load of the servers and at receivers that hang."
{{- end }}
