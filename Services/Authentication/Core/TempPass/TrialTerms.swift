package import Clocks
package import Contracts
internal import Cryptography
package import Faults
package import Identifiers
internal import StrictJson

/// The limits of a TempPass (rest-v1 §6.2).
package struct TrialTerms: Hashable, Sendable {
    /// From the first play on.
    package let lifetime: Duration
    /// The number of different resources; `nil`: any number.
    let maxResources: Int?
    /// The member of `generic_data` that names the user; `nil`: only the device counts.
    let userKey: String?

    /// - Throws: `invalid_request` for an MVPD that is no TempPass.
    package init(_ mvpd: Mvpd) throws(Fault) {
        guard case .tempPass(let pass) = mvpd.signIn else { throw Fault(.invalidRequest, "The MVPD is no TempPass.") }
        let isPromotional = pass.kind != .basic
        lifetime = .seconds(Int64(pass.ttlSeconds))
        maxResources = isPromotional ? Int(pass.maxResources) : nil
        userKey = isPromotional ? pass.userInformationKey : nil
    }

    /// - Returns: `nil` for a basic TempPass, which reads no `generic_data`.
    /// - Throws: `invalid_request`.
    package func user(in genericData: String) throws(Fault) -> TrialUser? {
        guard let userKey else { return nil }
        return try GenericData.user(in: genericData, key: userKey)
    }
}

/// In the words of REST v2, where a TempPass is an MVPD like others (rest-v2 §3).
extension TrialTerms {
    /// - Throws: `invalid_temporary_access_configuration` for an MVPD that is no TempPass, or of which no trial could be had.
    package init(configured mvpd: Mvpd) throws(Fault) {
        guard let terms = try? TrialTerms(mvpd), terms.lifetime > .zero, terms.userKey?.isEmpty != true else {
            throw Fault(.invalidTemporaryAccessConfiguration, "The TempPass is not configured.")
        }
        self = terms
    }

    /// - Returns: `nil` for a basic TempPass, which needs no identity.
    /// - Throws: `invalid_temporary_access_identity`.
    package func user(inIdentity text: String) throws(Fault) -> TrialUser? {
        do {
            return try user(in: text)
        } catch {
            throw Fault(.invalidTemporaryAccessIdentity, "The TempPass needs a user's identity in 'AP-TempPass-Identity'.")
        }
    }
}

/// A device's trial is this far; reading it starts no clock (rest-v2 D14).
package struct TrialStanding: Sendable {
    /// `nil`: its clock was not started.
    package let trial: Trial?
    package let terms: TrialTerms
    package let now: Timestamp

    package init(trial: Trial?, terms: TrialTerms, now: Timestamp) {
        (self.trial, self.terms, self.now) = (trial, terms, now)
    }

    static let timeIsUp = Fault(.temporaryAccessDurationLimitExceeded, "The time of the temporary access is over.")
    static let resourcesAreUp = Fault(.temporaryAccessResourcesLimitExceeded, "The resources of the temporary access are used up.")

    package var startedAt: Timestamp { trial?.startedAt ?? now }
    package var expiresAt: Timestamp { trial?.expiresAt ?? now + terms.lifetime }
    package var isOver: Bool { trial?.isOver(at: now) ?? false }
    var isUsedUp: Bool { terms.maxResources.map { (trial?.resources.count ?? 0) >= $0 } ?? false }

    package var state: TrialState { TrialState(isOver: isOver, isUsedUp: isUsedUp) }

    package var facts: TempPassFacts {
        let used = trial?.resources ?? []
        return TempPassFacts(
            expiresAt: expiresAt, remainingResources: terms.maxResources.map { max(0, $0 - used.count) },
            usedResources: terms.maxResources.map { _ in used })
    }

    /// - Throws: `temporary_access_duration_limit_exceeded`, `temporary_access_resources_limit_exceeded`.
    package func requireLeft() throws(Fault) {
        if isOver { throw Self.timeIsUp }
        if isUsedUp { throw Self.resourcesAreUp }
    }
}

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

    /// - Parameter identifier: A digest in hex is taken as it is, in either letter case. Anything else is hashed with SHA-256, so that no address is
    ///   ever stored.
    package init(identifier: String) {
        let isDigest = Self.digestLengths.contains(identifier.utf8.count) && Hex.decode(identifier) != nil
        self.init(isDigest ? identifier.lowercased() : Hex.encode(SHA256.hash(identifier)))
    }
}
