{{- define "engram.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "engram.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "engram.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "engram.selectorLabels" -}}
app.kubernetes.io/name: {{ include "engram.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "engram.memberLabels" -}}
{{ include "engram.selectorLabels" . }}
app.kubernetes.io/component: member
{{- end -}}

{{- define "engram.labels" -}}
{{ include "engram.selectorLabels" . }}
app.kubernetes.io/part-of: engram
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* metadata of an object: (list $ "suffix of the name" "component" and perhaps its annotations) */}}
{{- define "engram.metadata" -}}
{{- $ := index . 0 -}}
name: {{ include "engram.fullname" $ }}{{ index . 1 }}
namespace: {{ include "engram.namespace" $ | quote }}
labels:
  {{- include "engram.labels" $ | nindent 2 }}
  app.kubernetes.io/component: {{ index . 2 }}
{{- $own := dict }}
{{- if gt (len .) 3 }}{{ $own = index . 3 }}{{ end }}
{{- with merge (dict) $own $.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "engram.image" -}}
{{- $registry := default .Values.image.registry .Values.global.imageRegistry -}}
{{- with $registry }}{{ . }}/{{ end -}}
{{- .Values.image.repository -}}
{{- if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ default .Chart.AppVersion .Values.image.tag }}{{ end -}}
{{- end -}}

{{- define "engram.serviceAccountName" -}}
{{- default (ternary (include "engram.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "engram.scheme" -}}
{{- ternary "https" "http" . -}}
{{- end -}}

{{- define "engram.domain" -}}
{{- printf "%s-headless.%s.svc.%s" (include "engram.fullname" .) (include "engram.namespace" .) .Values.clusterDomain -}}
{{- end -}}

{{- define "engram.initialCluster" -}}
{{- $members := list -}}
{{- range $at := until (int .Values.replicaCount) -}}
{{- $name := printf "%s-%d" (include "engram.fullname" $) $at -}}
{{- $url := printf "%s://%s.%s:%d" (include "engram.scheme" $.Values.auth.peer.secureTransport) $name (include "engram.domain" $) (int $.Values.containerPorts.peer) -}}
{{- $members = append $members (printf "%s=%s" $name $url) -}}
{{- end -}}
{{- join "," $members -}}
{{- end -}}

{{/* The secret with the certificates of "client" or "peer": (list $ "client") */}}
{{- define "engram.certificateSecret" -}}
{{- $ := index . 0 -}}
{{- $side := index . 1 -}}
{{- $existing := index $.Values.auth $side "existingSecret" -}}
{{- if eq $.Values.auth.certificates.source "existing" -}}
{{- required (printf "auth.%s.existingSecret: with auth.certificates.source=existing, TLS needs a secret" $side) $existing -}}
{{- else -}}
{{- printf "%s-%s-tls" (include "engram.fullname" $) $side -}}
{{- end -}}
{{- end -}}

{{/* Names in the members' certificates, as a list in JSON */}}
{{- define "engram.altNames" -}}
{{- $full := include "engram.fullname" . -}}
{{- $namespace := include "engram.namespace" . -}}
{{- $names := list "localhost" $full (printf "%s.%s" $full $namespace) (printf "%s.%s.svc" $full $namespace) (printf "%s.%s.svc.%s" $full $namespace .Values.clusterDomain) (printf "*.%s" (include "engram.domain" .)) -}}
{{- if .Values.leaderService.enabled -}}
{{- $leader := printf "%s-leader" $full -}}
{{- $names = concat $names (list $leader (printf "%s.%s" $leader $namespace) (printf "%s.%s.svc" $leader $namespace) (printf "%s.%s.svc.%s" $leader $namespace .Values.clusterDomain)) -}}
{{- end -}}
{{- concat $names .Values.auth.certificates.altNames | toJson -}}
{{- end -}}

{{/* The configuration of the proxy to the leader. TLS passes through it: it knows no certificate. */}}
{{- define "engram.leaderProxy" -}}
global
  log stdout format raw local0 notice

resolvers cluster
  parse-resolv-conf
  hold valid 5s

defaults
  mode tcp
  log global
  timeout connect 2s
  timeout check 2s
  # Of a connection on which nothing is said. Clients of gRPC have pings of their own.
  timeout client 1h
  timeout server 1h
  option clitcpka
  option srvtcpka

frontend client
  bind :{{ .Values.containerPorts.client }}
  default_backend leader

frontend health
  mode http
  bind :8404
  timeout client 5s
  monitor-uri /livez

# A member that leads no more loses its connections: their clients come again, and reach the next leader.
backend leader
  option httpchk
  http-check send meth GET uri /health/leader ver HTTP/1.1 hdr Host leader
  http-check expect status 200
  default-server check port {{ .Values.containerPorts.metrics }} inter 500ms fall 1 rise 1 on-marked-down shutdown-sessions resolvers cluster init-addr last,libc,none
{{- range $at := until (int .Values.replicaCount) }}
  server member-{{ $at }} {{ include "engram.fullname" $ }}-{{ $at }}.{{ include "engram.domain" $ }}:{{ $.Values.containerPorts.client }}
{{- end }}
{{ end -}}

{{- define "engram.pdEndpoints" -}}
{{- if .Values.tikv.pdEndpoints -}}
{{- join "," .Values.tikv.pdEndpoints -}}
{{- else if ne .Values.tikv.cluster.create "none" -}}
{{- printf "%s-pd:2379" (include "engram.fullname" .) -}}
{{- else -}}
{{- fail "storage.type=tikv needs tikv.pdEndpoints, or tikv.cluster.create" -}}
{{- end -}}
{{- end -}}

{{- define "engram.storageClass" -}}
{{- $class := index . 1 | default (index . 0).Values.global.defaultStorageClass -}}
{{- if eq $class "-" }}
storageClassName: ""
{{- else if $class }}
storageClassName: {{ $class | quote }}
{{- end -}}
{{- end -}}

{{- define "engram.usesClientTls" -}}
{{- if .Values.auth.client.secureTransport }}true{{ end -}}
{{- end -}}

{{- define "engram.usesPeerTls" -}}
{{- if and .Values.auth.peer.secureTransport (eq .Values.storage.type "tikv") }}true{{ end -}}
{{- end -}}

{{/* The endpoint of one signal is taken as it is: over HTTP it has the path. */}}
{{- define "engram.otlpMetricsEndpoint" -}}
{{- if eq .protocol "grpc" -}}
{{- .endpoint -}}
{{- else -}}
{{- printf "%s/v1/metrics" (trimSuffix "/" .endpoint) -}}
{{- end -}}
{{- end -}}

{{- define "engram.validate" -}}
{{- if and (gt (int .Values.replicaCount) 1) (ne .Values.storage.type "tikv") -}}
{{- fail "replicaCount: more than one member needs storage.type=tikv" -}}
{{- end -}}
{{- if and .Values.auth.client.enableAuthentication (not .Values.auth.client.secureTransport) -}}
{{- fail "auth.client.enableAuthentication needs auth.client.secureTransport" -}}
{{- end -}}
{{- if and (eq .Values.auth.certificates.source "cert-manager") (or .Values.auth.client.secureTransport .Values.auth.peer.secureTransport) (not .Values.auth.certificates.certManager.issuerName) -}}
{{- fail "auth.certificates.source=cert-manager needs auth.certificates.certManager.issuerName" -}}
{{- end -}}
{{- if and .Values.disasterRecovery.enabled (not .Values.disasterRecovery.image.repository) -}}
{{- fail "disasterRecovery.enabled needs disasterRecovery.image.repository: an image with etcdctl and sh" -}}
{{- end -}}
{{- if and .Values.leaderService.enabled (not .Values.leaderService.image.repository) -}}
{{- fail "leaderService.enabled needs leaderService.image.repository: an image with haproxy" -}}
{{- end -}}
{{- if and .Values.metrics.otlp.enabled (not .Values.metrics.otlp.endpoint) -}}
{{- fail "metrics.otlp.enabled needs metrics.otlp.endpoint" -}}
{{- end -}}
{{- end -}}
