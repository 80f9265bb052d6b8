{{- define "realmkeeper.operator.rules" -}}
- apiGroups: [realmkeeper.dev]
  resources: [realms, flows, webhooks, workloadidentities]
  # patch: the finalizer, nothing else
  verbs: [get, list, watch, patch]
- apiGroups: [realmkeeper.dev]
  resources: [realms/status, flows/status, webhooks/status, workloadidentities/status]
  verbs: [patch]
- apiGroups: ['']
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "realmkeeper.operator.secretRules" -}}
# The values of those that resources name; of the others it follows the metadata alone.
- apiGroups: ['']
  resources: [secrets, configmaps]
  verbs: [get, list, watch]
{{- if .Values.operator.writeSecrets }}
{{ include "realmkeeper.operator.writeRules" . }}
{{- end }}
{{- end }}

{{- define "realmkeeper.operator.writeRules" -}}
# Those of secretOutput, which it owns; rights know no difference.
- apiGroups: ['']
  resources: [secrets]
  verbs: [create, patch, delete]
{{- end }}
