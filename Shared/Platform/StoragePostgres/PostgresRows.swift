internal import CPostgres
internal import Storage

/// An answer of the server, in its binary form.
// Nothing changes it after it was made.
final class PostgresRows: StoredRows, @unchecked Sendable {
    private let result: OpaquePointer

    /// - Parameter result: To be cleared with this.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var affected: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }
    /// The tag of the command, for example `COMMIT`.
    var tag: String { String(cString: PQcmdStatus(result)) }
    /// True when rows were changed, and not only read.
    var isChange: Bool { affected > 0 && ["INSERT", "UPDATE", "DELETE"].contains { tag.hasPrefix($0) } }
    var status: ExecStatusType { PQresultStatus(result) }

    /// Why there is no answer.
    var error: PostgresError {
        func field(_ code: Character) -> String? { PQresultErrorField(result, CInt(code.asciiValue ?? 0)).map { String(cString: $0) } }
        // The detail has values of the row.
        return PostgresError(state: field("C") ?? "", message: field("M") ?? String(cString: PQresultErrorMessage(result)))
    }

    func each(_ read: (any RowSource) throws -> Bool) throws {
        let count = PQntuples(result)
        guard count > 0 else { return }
        let row = PostgresRow(result)
        while try read(row) {
            guard row.number + 1 < count else { return }
            row.number += 1
        }
    }
}

private final class PostgresRow: RowSource {
    private let result: OpaquePointer
    var number: CInt = 0

    init(_ result: OpaquePointer) { self.result = result }

    func isNull(_ column: Int) -> Bool { PQgetisnull(result, number, CInt(column)) == 1 }

    func integer(_ column: Int) -> Int64 {
        let octets = octets(column)
        switch (PQftype(result, CInt(column)), octets.count) {
        case (Oids.int8, 8), (Oids.int4, 4), (Oids.int2, 2), (Oids.bool, 1):
            let isNegative = octets.count > 1 && octets[0] & 0x80 != 0
            return octets.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
        case (let type, _): preconditionFailure("column \(column) is no integer, but of type \(type)")
        }
    }

    func text(_ column: Int) -> String { String(decoding: octets(column), as: UTF8.self) }

    func bytes(_ column: Int) -> [UInt8] { [UInt8](octets(column)) }

    private func octets(_ column: Int) -> UnsafeBufferPointer<UInt8> {
        precondition(!isNull(column), "column \(column) is NULL")
        let count = Int(PQgetlength(result, number, CInt(column)))
        return UnsafeRawBufferPointer(start: PQgetvalue(result, number, CInt(column)), count: count).assumingMemoryBound(to: UInt8.self)
    }
}

/// Numbers of the types that arguments and columns have.
enum Oids {
    static let unknown: Oid = 0
    static let bool: Oid = 16
    static let bytes: Oid = 17
    static let int8: Oid = 20
    static let int2: Oid = 21
    static let int4: Oid = 23
    static let text: Oid = 25

    static func of(_ value: StoredValue) -> Oid {
        switch value {
        case .null: unknown
        case .integer: int8
        case .text: text
        case .bytes: bytes
        }
    }
}
