internal import Clocks
internal import Contracts
internal import Faults
internal import StrictJson

/// What providers announce of their answers where their records do not say it: records of before the import stored it, and those that somebody wrote by hand.
actor ProviderAnnouncements {
    /// OpenID Connect Discovery §4.
    private static let place = "/.well-known/openid-configuration"
    private static let life: Duration = .seconds(86_400)
    /// After a read that failed.
    private static let patience: Duration = .seconds(600)
    /// A person waits so long for it.
    private static let longest: Duration = .seconds(2)

    private struct Entry {
        var includesIssuer = false
        var dueAt: Timestamp
        var reading: Task<Bool?, Never>?
    }

    private let client: ProviderClient
    private let clock: any WallClock
    private var entries: [OctetText: Entry] = [:]

    init(client: ProviderClient, clock: any WallClock) {
        self.client = client
        self.clock = clock
    }

    /// Whether its answers name it, as its discovery document says (`authorization_response_iss_parameter_supported`, RFC 9207 §3). A document that cannot be read says
    /// nothing new.
    func includeIssuer(of provider: OAuthProvider) async -> Bool {
        let issuer = OctetText(provider.endpoint.issuer)
        if let entry = entries[issuer] {
            if let reading = entry.reading { return await reading.value ?? entry.includesIssuer }
            if clock.now() < entry.dueAt { return entry.includesIssuer }
        }
        let reading = Task { await self.read(provider) }
        entries[issuer, default: Entry(dueAt: clock.now())].reading = reading
        let found = await reading.value
        let known = entries[issuer]?.includesIssuer ?? false
        let dueAt = clock.now() + (found == nil ? Self.patience : Self.life)
        entries[issuer] = Entry(includesIssuer: found ?? known, dueAt: dueAt)
        return found ?? known
    }

    /// - Returns: `nil` where there is no document that can be read, or one of another issuer.
    private func read(_ provider: OAuthProvider) async -> Bool? {
        let issuer = provider.endpoint.issuer
        let address = (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + Self.place
        let budget = CallBudget(min(provider.endpoint.totalTimeout, Self.longest))
        guard let document = try? await client.discovery(at: address, of: provider, budget: budget),
            let root = try? JsonDocument(parsing: document).root, case .string(let named)? = root.member("issuer")?.content,
            OctetText(named) == OctetText(issuer)
        else { return nil }
        guard case .bool(let isSupported)? = root.member("authorization_response_iss_parameter_supported")?.content else { return false }
        return isSupported
    }
}

extension JsonNode {
    fileprivate func member(_ name: String) -> JsonNode? {
        guard case .object(let members) = content else { return nil }
        return members.first { OctetText($0.name) == OctetText(name) }?.value
    }
}
