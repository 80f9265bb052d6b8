{{/* Where the database is, and how its secrets get into a container without ever standing in a manifest. */}}

{{- define "realmkeeper.database.ca" -}}
{{- if or .Values.database.ca.secret .Values.database.ca.configMap }}true{{ end }}
{{- end }}

{{/* (dict "root" . "host" … "port" …): the URL without user and password. A host may be several, with commas between them. */}}
{{- define "realmkeeper.database.url" -}}
{{- $database := .root.Values.database -}}
{{- $port := printf ":%v" .port -}}
postgres://{{ .host | replace "," (printf "%s," $port) }}{{ $port }}/{{ $database.name }}?sslmode={{ $database.sslMode }}{{ if include "realmkeeper.database.ca" .root }}&sslrootcert=/etc/realmkeeper/database/ca.crt{{ end }}{{ if contains "," .host }}&target_session_attrs=read-write{{ end }}
{{- end }}

{{/* User and password come by PGUSER and PGPASSWORD, so that a password may hold any character. */}}
{{- define "realmkeeper.database.env" -}}
{{- $database := .Values.database -}}
{{- if .Values.postgresql.enabled -}}
- name: DATABASE_URL
  value: postgres://{{ include "realmkeeper.fullname" . }}-postgresql:5432/realmkeeper
- name: PGUSER
  value: realmkeeper
- name: PGPASSWORD
  valueFrom:
    secretKeyRef: { name: {{ include "realmkeeper.fullname" . }}-postgresql, key: password }
{{- else if $database.urlKey -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef: { name: {{ $database.existingSecret }}, key: {{ $database.urlKey }} }
{{- if $database.directUrlKey }}
- name: DATABASE_DIRECT_URL
  valueFrom:
    secretKeyRef: { name: {{ $database.existingSecret }}, key: {{ $database.directUrlKey }} }
{{- end }}
{{- else -}}
- name: DATABASE_URL
  value: {{ include "realmkeeper.database.url" (dict "root" . "host" $database.host "port" $database.port) }}
{{- if $database.directHost }}
- name: DATABASE_DIRECT_URL
  value: {{ include "realmkeeper.database.url" (dict "root" . "host" $database.directHost "port" $database.directPort) }}
{{- end }}
- name: PGUSER
  valueFrom:
    secretKeyRef: { name: {{ $database.existingSecret }}, key: {{ $database.usernameKey }} }
- name: PGPASSWORD
  valueFrom:
    secretKeyRef: { name: {{ $database.existingSecret }}, key: {{ $database.passwordKey }} }
{{- end }}
{{- end }}

{{- define "realmkeeper.database.mount" -}}
{{- if include "realmkeeper.database.ca" . }}
- { name: database-ca, mountPath: /etc/realmkeeper/database, readOnly: true }
{{- end }}
{{- end }}

{{/* (dict "name" … "from" .Values.x.ca): one certificate authority as ca.crt. */}}
{{- define "realmkeeper.caVolume" -}}
- name: {{ .name }}
  {{- if .from.secret }}
  secret:
    secretName: {{ .from.secret }}
  {{- else }}
  configMap:
    name: {{ .from.configMap }}
  {{- end }}
    items: [{ key: {{ .from.key }}, path: ca.crt }]
{{- end }}
