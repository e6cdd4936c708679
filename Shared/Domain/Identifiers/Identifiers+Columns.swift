package import Storage

extension Identifier: ColumnValue {
    package var stored: StoredValue { .text(text) }

    package init(_ row: any RowSource, _ column: Int) { self.init(row.text(column)) }
}

extension Digest: ColumnValue {
    package var stored: StoredValue { .bytes(bytes) }

    package init(_ row: any RowSource, _ column: Int) { self.init(bytes: row.bytes(column)) }
}
