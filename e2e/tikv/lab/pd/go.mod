module pdlab

go 1.21

require github.com/tikv/pd v1.1.0-beta.0.20240407022249-7179657d129b
