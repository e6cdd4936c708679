internal import Contracts
internal import Cryptography
package import Faults
package import Identifiers
internal import StrictJson

/// The `generic_data` of a promotional TempPass (rest-v1 §3.21).
package enum GenericData {
    /// Longest accepted text, in bytes.
    private static let longest = 4096

    /// The user whom the text names.
    /// - Parameters:
    ///   - text: A JSON object; round brackets may stand for its braces, or around it.
    ///   - key: The member that names the user.
    /// - Throws: `invalid_request` when the text is absent or says nothing of a user.
    package static func user(in text: String, key: String) throws(Fault) -> TrialUser {
        let members = try members(of: text)
        let values = members.filter { $0.name == key }.map(\.value.content)
        guard values.count == 1, case .string(let identifier) = values[0], !identifier.isEmpty else {
            throw Fault(.invalidRequest, "The generic_data does not name the user by '\(key)'.")
        }
        return TrialUser(identifier: identifier)
    }

    /// Everybody whom the text names, by the member that does.
    /// - Throws: `invalid_request` when the text is absent or says nothing of a user.
    package static func users(in text: String) throws(Fault) -> [(key: String, user: TrialUser)] {
        let users = try members(of: text).compactMap { member -> (key: String, user: TrialUser)? in
            guard case .string(let identifier) = member.value.content, !identifier.isEmpty else { return nil }
            return (member.name, TrialUser(identifier: identifier))
        }
        guard !users.isEmpty else { throw Fault(.invalidRequest, "The generic_data does not name the user.") }
        return users
    }

    private static func members(of text: String) throws(Fault) -> [JsonMember] {
        guard !text.isEmpty else { throw Fault(.invalidRequest, "Required 'generic_data' is not present") }
        guard text.utf8.count <= longest, case .object(let members) = try? JsonDocument(parsing: object(text)).root.content else {
            throw Fault(.invalidRequest, "The generic_data is no JSON object.")
        }
        return members
    }

    private static func object(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        bytes.trim()
        guard bytes.first == UInt8(ascii: "("), bytes.last == UInt8(ascii: ")"), bytes.count >= 2 else { return bytes }
        var inner = Array(bytes[1..<(bytes.count - 1)])
        inner.trim()
        return inner.first == UInt8(ascii: "{") ? inner : [UInt8(ascii: "{")] + inner + [UInt8(ascii: "}")]
    }
}

extension [UInt8] {
    /// Removes the blanks of JSON at both ends.
    fileprivate mutating func trim() {
        let blanks = Array(" \t\r\n".utf8)
        removeLast(reversed().prefix(while: blanks.contains).count)
        removeFirst(prefix(while: blanks.contains).count)
    }
}

extension Identifier where Subject == TrialUserSubject {
    /// Lengths of MD5, SHA-1 and the SHA-2 family in hex digits.
    private static var digestLengths: Set<Int> { [32, 40, 56, 64, 96, 128] }

    /// - Parameter identifier: A digest in hex is taken as it is, whatever its letter case; anything else is hashed with SHA-256, so that
    ///   no address is ever stored.
    package init(identifier: String) {
        let isDigest = Self.digestLengths.contains(identifier.utf8.count) && Hex.decode(identifier) != nil
        self.init(isDigest ? identifier.lowercased() : Hex.encode(SHA256.hash(identifier)))
    }
}
