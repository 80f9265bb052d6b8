{{/* A quantity of Kubernetes as a number. */}}
{{- define "realmkeeper.quantity" -}}
{{- $units := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 "m" 0.001 -}}
{{- $text := toString . -}}
{{- mulf (regexFind "^[0-9.]+" $text | float64) (get $units (regexReplaceAll "^[0-9.]+" $text "")) -}}
{{- end }}

{{/* What values ask of each other; a single value is the schema's matter. Every fault is told at once. */}}
{{- define "realmkeeper.checks" -}}
{{- $v := .Values -}}
{{- $faults := list -}}
{{- $external := ne $v.database.existingSecret "" -}}
{{- if and $v.postgresql.enabled $external -}}
{{- $faults = append $faults "database.existingSecret names a database of yours: set postgresql.enabled=false" -}}
{{- end -}}
{{- if and (not $v.postgresql.enabled) (not $external) -}}
{{- $faults = append $faults "postgresql.enabled is false: name your database's Secret in database.existingSecret" -}}
{{- end -}}
{{- if and $external (not $v.database.urlKey) (not $v.database.host) -}}
{{- $faults = append $faults "database.host is needed, unless database.urlKey names the key of a whole URL" -}}
{{- end -}}
{{- if and $v.database.urlKey $v.database.directHost -}}
{{- $faults = append $faults "database.directHost goes with database.host; with database.urlKey name the key of the direct URL in database.directUrlKey" -}}
{{- end -}}
{{- if and $v.database.directUrlKey (not $v.database.urlKey) -}}
{{- $faults = append $faults "database.directUrlKey goes with database.urlKey; with database.host name the database itself in database.directHost" -}}
{{- end -}}
{{- range $name, $ca := dict "database.ca" $v.database.ca "server.outboundCa" $v.server.outboundCa "operator.serverCa" $v.operator.serverCa -}}
{{- if and $ca.secret $ca.configMap -}}
{{- $faults = append $faults (printf "%s: give a Secret or a ConfigMap, not both" $name) -}}
{{- end -}}
{{- end -}}
{{- if and $v.server.clientCertificates.header (not $v.server.clientCertificates.proxies) -}}
{{- $faults = append $faults "server.clientCertificates.proxies must name the proxies that forward certificates: any other client could send the header itself" -}}
{{- end -}}
{{- if and $v.server.mutualTls.url (not $v.server.mutualTls.existingSecret) (not $v.server.clientCertificates.header) -}}
{{- $faults = append $faults "server.mutualTls.url needs server.mutualTls.existingSecret, or server.clientCertificates.header" -}}
{{- end -}}
{{- if and $v.server.mutualTls.existingSecret (eq (int $v.server.mutualTls.port) (int $v.server.port)) -}}
{{- $faults = append $faults "server.mutualTls.port must differ from server.port" -}}
{{- end -}}
{{- $url := urlParse $v.server.baseUrl -}}
{{- if and (eq $url.scheme "http") (not (has $url.hostname (list "localhost" "127.0.0.1" "[::1]"))) -}}
{{- $faults = append $faults "server.baseUrl must be https, except on loopback" -}}
{{- end -}}
{{- if and (or $v.ingress.enabled $v.httpRoute.enabled) (eq $url.hostname "localhost") -}}
{{- $faults = append $faults "server.baseUrl must be the public address where ingress or httpRoute is enabled" -}}
{{- end -}}
{{- if and (or $v.ingress.enabled $v.httpRoute.enabled) (not $v.server.trustProxy) -}}
{{- $faults = append $faults "server.trustProxy must name the proxies in front (addresses or CIDRs) where ingress or httpRoute is enabled: else all people have one address, and twenty wrong passwords of one keep everybody out" -}}
{{- end -}}
{{- if and $v.ingress.enabled $v.ingress.host (ne $v.ingress.host $url.hostname) -}}
{{- $faults = append $faults (printf "ingress.host must be that of server.baseUrl, %s: issuers and redirects name it" $url.hostname) -}}
{{- end -}}
{{- if and $v.server.autoscaling.enabled (gt (int $v.server.autoscaling.minReplicas) (int $v.server.autoscaling.maxReplicas)) -}}
{{- $faults = append $faults "server.autoscaling.minReplicas must not exceed maxReplicas" -}}
{{- end -}}
{{- if and $v.server.service.nodePort (eq $v.server.service.type "ClusterIP") -}}
{{- $faults = append $faults "server.service.nodePort goes with type NodePort or LoadBalancer" -}}
{{- end -}}
{{- range $name, $resources := dict "server.resources" $v.server.resources "server.migrations.resources" $v.server.migrations.resources "postgresql.resources" $v.postgresql.resources "operator.resources" $v.operator.resources -}}
{{- $requests := default (dict) $resources.requests -}}
{{- $limits := default (dict) $resources.limits -}}
{{- range $what := list "memory" "cpu" -}}
{{- $request := index $requests $what -}}
{{- $limit := index $limits $what -}}
{{- if and $request $limit (gt (include "realmkeeper.quantity" $request | float64) (include "realmkeeper.quantity" $limit | float64)) -}}
{{- $faults = append $faults (printf "%s: the request of %s (%v) exceeds its limit (%v)" $name $what $request $limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $v.operator.secretNamespaces $v.operator.watchNamespaces -}}
{{- $faults = append $faults "operator.secretNamespaces: with operator.watchNamespaces Secrets are read in those alone" -}}
{{- end -}}
{{- if and $v.operator.writeSecrets $v.operator.writeSecretNamespaces -}}
{{- $faults = append $faults "operator.writeSecretNamespaces: operator.writeSecrets gives the right in all namespaces already" -}}
{{- end -}}
{{- $read := concat $v.operator.watchNamespaces $v.operator.secretNamespaces -}}
{{- range $v.operator.writeSecretNamespaces -}}
{{- if and $read (not (has . $read)) -}}
{{- $faults = append $faults (printf "operator.writeSecretNamespaces: the operator reads no Secrets in %s" .) -}}
{{- end -}}
{{- end -}}
{{- range $v.httpRoute.hostnames -}}
{{- if and $v.httpRoute.enabled (ne . $url.hostname) -}}
{{- $faults = append $faults (printf "httpRoute.hostnames: %s isn't the host of server.baseUrl, %s, which issuers and redirects name" . $url.hostname) -}}
{{- end -}}
{{- end -}}
{{- range $part, $of := dict "server" $v.server "operator" $v.operator -}}
{{- $volumes := list -}}
{{- range $of.extraVolumes -}}{{- $volumes = append $volumes .name -}}{{- end -}}
{{- range $of.extraVolumeMounts -}}
{{- if not (has .name $volumes) -}}
{{- $faults = append $faults (printf "%s.extraVolumeMounts: no volume of %s.extraVolumes is called %s" $part $part .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $part, $of := dict "server" $v.server "operator" $v.operator "postgresql" $v.postgresql -}}
{{- range $context := list "podSecurityContext" "securityContext" -}}
{{- $given := index $of $context -}}
{{- if and (hasKey $given "runAsUser") (kindIs "invalid" $given.runAsUser | not) (eq (int $given.runAsUser) 0) -}}
{{- $faults = append $faults (printf "%s.%s.runAsUser: 0 is root, which no container of this chart may be" $part $context) -}}
{{- end -}}
{{- end -}}
{{- if $of.securityContext.privileged -}}
{{- $faults = append $faults (printf "%s.securityContext.privileged: no container of this chart needs the node's rights" $part) -}}
{{- end -}}
{{- end -}}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) -}}
{{- $faults = append $faults "httpRoute.parentRefs must name a Gateway" -}}
{{- end -}}
{{- if and $v.operator.enabled $v.operator.watchNamespaces (not $v.operator.clusterName) -}}
{{- $faults = append $faults "operator.clusterName is needed with operator.watchNamespaces: no right to read kube-system's uid is asked for" -}}
{{- end -}}
{{- if and $v.operator.enabled $v.operator.watchNamespaces $v.operator.realmNamespaces -}}
{{- $faults = append $faults "operator.realmNamespaces chooses among all namespaces: with operator.watchNamespaces name just those" -}}
{{- end -}}
{{- if and $v.operator.enabled $v.operator.watchNamespaces (hasPrefix "label:" $v.operator.realmNames) -}}
{{- $faults = append $faults "operator.realmNames goes by labels of namespaces, which an operator of operator.watchNamespaces can't read" -}}
{{- end -}}
{{- if and $v.operator.serverUrl (not $v.operator.signIn.clientSecret.existingSecret) (hasPrefix "http:" $v.operator.serverUrl) (not (hasSuffix ".svc" (urlParse $v.operator.serverUrl).hostname)) -}}
{{- $faults = append $faults "operator.serverUrl must be https, except for a Service of this cluster" -}}
{{- end -}}
{{- if and (or $v.operator.serverCa.secret $v.operator.serverCa.configMap) (not (hasPrefix "https:" $v.operator.serverUrl)) -}}
{{- $faults = append $faults "operator.serverCa is the authority of an https address: give operator.serverUrl too" -}}
{{- end -}}
{{- $names := list $v.operator.serverName -}}
{{- $audiences := list $v.operator.signIn.audience -}}
{{- range $at, $server := $v.operator.servers -}}
{{- $is := printf "operator.servers[%d]" $at -}}
{{- if has .name $names -}}
{{- $faults = append $faults (printf "%s.name: there is another server of the name %s" $is .name) -}}
{{- end -}}
{{- if eq (hasKey . "audience") (hasKey . "clientSecret") -}}
{{- $faults = append $faults (printf "%s: give an audience of its own, or a clientSecret" $is) -}}
{{- end -}}
{{- if and (hasKey . "audience") (has .audience $audiences) -}}
{{- $faults = append $faults (printf "%s.audience is another server's too, and each could use the token at the other" $is) -}}
{{- end -}}
{{- if and (hasPrefix "http:" .url) (not (hasSuffix ".svc" (urlParse .url).hostname)) -}}
{{- $faults = append $faults (printf "%s.url must be https, except for a Service of this cluster" $is) -}}
{{- end -}}
{{- if and (hasKey . "ca") (eq (hasKey .ca "secret") (hasKey .ca "configMap")) -}}
{{- $faults = append $faults (printf "%s.ca: give a Secret or a ConfigMap" $is) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- $audiences = append $audiences (default "" .audience) -}}
{{- end -}}
{{- if and $v.monitoring.serviceMonitor.enabled $v.networkPolicy.enabled (not $v.networkPolicy.metricsFrom) -}}
{{- $faults = append $faults "networkPolicy.metricsFrom must name your Prometheus where monitoring.serviceMonitor is enabled" -}}
{{- end -}}
{{- if $faults -}}
{{- fail (printf "\n\nThe values have faults:\n  %s\n" (join "\n  " $faults)) -}}
{{- end -}}
{{- end }}
