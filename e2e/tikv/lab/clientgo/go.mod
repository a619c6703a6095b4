module clientlab

go 1.25.12

require github.com/tikv/client-go/v2 v2.0.8-0.20260803075849-c3b50791b9fb
