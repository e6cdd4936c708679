internal import Contracts
internal import Faults
internal import Storage

extension RegistrationCodeText: ColumnValue {
    var stored: StoredValue { .text(text) }

    init(_ row: any RowSource, _ column: Int) { self.init(typed: row.text(column)) }
}

extension UpstreamSubject {
    /// The attributes as they are kept in a column: a `SessionSubject` with nothing else in it.
    func attributesColumn() throws(Fault) -> [UInt8] { try SessionSubject(attributes: attributes).serialized() }

    static func attributes(column: [UInt8]) throws(Fault) -> [UserAttribute] { try SessionSubject(serialized: column).attributes }
}
