{{/* Names, labels and the image, the same in every object. */}}

{{- define "realmkeeper.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Room is left for the longest suffix, so that no name outgrows 63 characters. */}}
{{- define "realmkeeper.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "realmkeeper.name" .) .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "realmkeeper.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* (dict "context" $ "component" "server"): what a Service and a PodDisruptionBudget select by; it never changes. */}}
{{- define "realmkeeper.selector" -}}
app.kubernetes.io/name: {{ include "realmkeeper.name" .context }}
app.kubernetes.io/instance: {{ .context.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "realmkeeper.labels" -}}
{{ include "realmkeeper.selector" . }}
app.kubernetes.io/version: {{ .context.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: realmkeeper
app.kubernetes.io/managed-by: {{ .context.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .context.Chart.Name .context.Chart.Version | replace "+" "_" }}
{{- with .context.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Of Pods: without versions, or a chart that changed nothing about them would still replace them all. */}}
{{- define "realmkeeper.podLabels" -}}
{{ include "realmkeeper.selector" . }}
app.kubernetes.io/part-of: realmkeeper
{{- with .context.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* (dict "context" $ "component" … "name" …, optionally "namespace", "annotations", "labels"): an object's metadata. */}}
{{- define "realmkeeper.metadata" -}}
{{- $annotations := merge (dict) (default (dict) .annotations) .context.Values.commonAnnotations -}}
name: {{ .name }}
{{- if not .clusterScoped }}
namespace: {{ default .context.Release.Namespace .namespace }}
{{- end }}
labels:
  {{- include "realmkeeper.labels" . | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "realmkeeper.image" -}}
{{- $image := .Values.image -}}
{{- $name := $image.repository -}}
{{- with default $image.registry .Values.global.imageRegistry }}{{ $name = printf "%s/%s" . $name }}{{ end -}}
{{- if $image.digest -}}
{{ printf "%s@%s" $name $image.digest }}
{{- else -}}
{{ printf "%s:%s" $name (default .Chart.AppVersion $image.tag) }}
{{- end -}}
{{- end }}

{{- define "realmkeeper.serverAccount" -}}
{{- default (printf "%s-server" (include "realmkeeper.fullname" .)) .Values.server.serviceAccount.name }}
{{- end }}

{{- define "realmkeeper.operatorAccount" -}}
{{- default (printf "%s-operator" (include "realmkeeper.fullname" .)) .Values.operator.serviceAccount.name }}
{{- end }}

{{/* The server as Pods of this cluster reach it. */}}
{{- define "realmkeeper.serverUrl" -}}
{{- if .Values.operator.serverUrl -}}
{{ .Values.operator.serverUrl }}
{{- else -}}
http://{{ include "realmkeeper.fullname" . }}-server.{{ .Release.Namespace }}.svc:{{ .Values.server.service.port }}
{{- end -}}
{{- end }}

{{/* Whether the operator's server is the one of this release: by its Service, or by its public address. */}}
{{- define "realmkeeper.ownServer" -}}
{{- $url := trimSuffix "/" .Values.operator.serverUrl -}}
{{- if or (eq $url "") (eq $url (trimSuffix "/" .Values.server.baseUrl)) }}true{{ end -}}
{{- end }}

{{- define "realmkeeper.host" -}}
{{- (urlParse .Values.server.baseUrl).hostname }}
{{- end }}
