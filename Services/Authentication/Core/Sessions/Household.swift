internal import Contracts
internal import Cryptography

/// A household as a session's row has it, so that its sessions are found by an index. A digest: the attributes of an upstream's sessions are sealed, and the row
/// must not undo that.
enum Household {
    static let attribute = "householdID"

    /// 32 hex digits.
    static func mark(_ id: String) -> String { Hex.encode(SHA256.hash("household\n" + id).prefix(16)) }

    /// - Returns: Empty where the MVPD told none.
    static func mark(of attributes: [UserAttribute]) -> String {
        attributes.first { $0.key == attribute }?.values.first { !$0.isEmpty }.map(mark) ?? ""
    }
}
