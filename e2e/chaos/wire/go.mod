module engram/e2e/chaos/wire

go 1.26.0
