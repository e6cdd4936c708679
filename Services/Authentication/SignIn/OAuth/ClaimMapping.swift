internal import Contracts

/// Turns the claims of a person into metadata (mvpd §2.5). Nothing that cannot be mapped fails a login.
struct ClaimMapping: Sendable {
    /// Without a map of the endpoint, the claims of these names are taken.
    private static let documented: [AttributeMapping] =
        [AttributeMapping(target: "userID")]
        + ["zip", "channelID"].map { AttributeMapping(source: $0, target: $0, type: .stringList) }
        + ["is_hoh", "hba_status", "allowMirroring", "onNet", "inHome"].map { AttributeMapping(source: $0, target: $0, type: .boolean) }
        + ["upstreamUserID", "householdID", "primaryOID", "typeID", "encryptedZip", "maxRating", "language"].map {
            AttributeMapping(source: $0, target: $0)
        }
    private static let longestValue = 4096
    private static let mostValues = 1000

    let mappings: [AttributeMapping]

    /// - Parameter mappings: The endpoint's; empty: the documented names.
    init(_ mappings: [AttributeMapping]) {
        self.mappings = mappings.isEmpty ? Self.documented : mappings
    }

    /// True when claims of the endpoint's own map are not there yet.
    static func lacks(_ mappings: [AttributeMapping], in claims: ClaimSet) -> Bool {
        mappings.contains { !$0.source.isEmpty && !claims.has($0.source) }
    }

    func attributes(of claims: ClaimSet, userID: String) -> [UserAttribute] {
        mappings.flatMap { mapping -> [UserAttribute] in
            if mapping.source.isEmpty { return [UserAttribute(key: mapping.target, values: [userID])] }
            return claims.values(mapping.source, as: mapping.target).compactMap { Self.attribute($0.key, $0.values, mapping.type) }
        }
    }

    private static func attribute(_ key: String, _ values: [String], _ type: AttributeType) -> UserAttribute? {
        let usable = values.prefix(mostValues).filter { (1...longestValue).contains($0.utf8.count) && !$0.utf8.contains(0) }
        guard let first = usable.first else { return nil }
        switch type {
        case .boolean: return boolean(first).map { UserAttribute(key: key, values: [$0]) }
        case .stringList: return UserAttribute(key: key, values: usable)
        case .string, .unrecognized: return UserAttribute(key: key, values: [first])
        }
    }

    private static func boolean(_ text: String) -> String? {
        switch text.lowercased() {
        case "true", "1": "true"
        case "false", "0": "false"
        default: nil
        }
    }
}
