internal import Storage

extension SealedBytes: ColumnValue {
    var stored: StoredValue { .bytes(bytes) }

    init(_ row: any RowSource, _ column: Int) { self.init(bytes: row.bytes(column)) }
}
