package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// A row is stored as the CRC-32C of its id and JSON, followed by the JSON. The id is part of the
// sum, so that a row that turns up under another id is noticed too.
const crcSize = 4

// CorruptError is the error for a row whose bytes are not those that were written. Other rows are
// not affected.
type CorruptError struct {
	Table string
	ID    uint64
	Err   error // what is wrong with the bytes
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s %d is damaged: %v", e.Table, e.ID, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

func rowKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

func rowSum(id uint64, body []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(rowKey(id), table), table, body)
}

func encodeRow(id uint64, row any) ([]byte, error) {
	body, err := json.Marshal(row)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	data := make([]byte, crcSize, crcSize+len(body))
	binary.BigEndian.PutUint32(data, rowSum(id, body))
	return append(data, body...), nil
}

func decodeRow(id uint64, data []byte, row any) error {
	if len(data) < crcSize {
		return fmt.Errorf("only %d bytes", len(data))
	}
	body := data[crcSize:]
	if want, got := binary.BigEndian.Uint32(data), rowSum(id, body); want != got {
		return fmt.Errorf("checksum %08x, expected %08x", got, want)
	}
	if err := json.Unmarshal(body, row); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	return nil
}
