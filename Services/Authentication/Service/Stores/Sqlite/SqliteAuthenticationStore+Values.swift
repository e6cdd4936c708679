internal import Contracts
internal import Faults
internal import Foundation
package import Identifiers
package import Storage

extension Identifier: DatabaseValueConvertible, StatementColumnConvertible {
    package init(sqliteStatement: SQLiteStatement, index: CInt) { self.init(String(sqliteStatement: sqliteStatement, index: index)) }

    package var databaseValue: DatabaseValue { text.databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> Identifier? { String.fromDatabaseValue(value).map(Identifier.init) }
}

extension Digest: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { Data(bytes).databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> Digest? {
        Data.fromDatabaseValue(value).map { Digest(bytes: [UInt8]($0)) }
    }
}

extension RegistrationCodeText: DatabaseValueConvertible, StatementColumnConvertible {
    init(sqliteStatement: SQLiteStatement, index: CInt) { self.init(typed: String(sqliteStatement: sqliteStatement, index: index)) }

    var databaseValue: DatabaseValue { text.databaseValue }

    static func fromDatabaseValue(_ value: DatabaseValue) -> RegistrationCodeText? {
        String.fromDatabaseValue(value).map(RegistrationCodeText.init(typed:))
    }
}

extension DeviceInformation {
    /// As it is kept in a column.
    func columnValue() throws(Fault) -> Data { Data(try serialized()) }

    init(columnValue: Data) throws(Fault) { try self.init(serialized: [UInt8](columnValue)) }
}

extension UpstreamSubject {
    /// The attributes as they are kept in a column: a `SessionSubject` with nothing else in it.
    func attributesColumn() throws(Fault) -> Data { Data(try SessionSubject(attributes: attributes).serialized()) }

    static func attributes(column: Data) throws(Fault) -> [UserAttribute] {
        try SessionSubject(serialized: [UInt8](column)).attributes
    }
}
