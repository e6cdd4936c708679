/// The object `config` of the settings file.
public struct ConfigSettings: Decodable, Sendable {
    /// Path of the catalogue file; `nil`: another copy has one, or operators import one.
    public let catalogue: String?
    /// Path of the P-256 key that signs software statements, PEM.
    public let statementKey: String
    /// Path of the P-256 key that will sign them next: it is published already.
    public let nextStatementKey: String?
    /// Paths of the P-256 keys that signed statements which are still in use: these never expire.
    public let olderStatementKeys: [String]
    /// Seconds for which a new `statementKey` is published before it signs, 0 to 86400; 60 when it is left out.
    public let statementKeyLead: Int
    /// `iss` of software statements: a name of this deployment.
    public let issuer: String
    /// Certificate names that may have software statements issued; empty refuses everyone.
    public let statementCallers: [String]
    /// Seconds between looks at the catalogue file, 1 to 3600; 5 when it is left out.
    public let pollSeconds: Int
    /// The people who may administer over `boxoffice.config.v1.Administration`; empty refuses everyone.
    public let administrators: [AdministratorSettings]
    /// Certificate names that may open sessions of the console for people who signed in at an identity provider. Empty, and when it is left out:
    /// none.
    public let sessionCallers: [String]
    /// True when a push waits until somebody else approves it.
    public let approvalRequired: Bool

    /// Path of the folder with the client secrets of OAuth providers, where the authentication service's are in reach. A catalogue file that refers
    /// to a secret without a file is refused.
    public let clientSecrets: String?
    /// True when MVPDs' metadata may be fetched from this machine, from private networks and by plain HTTP.
    public let fetchesPrivately: Bool
    /// Days for which audit records are kept, 30 to 36500; 0, and when it is left out: for good.
    public let auditDays: Int
    /// Counts of events are kept for this long.
    public let usage: UsageSettings

    private enum CodingKeys: String, CodingKey {
        case catalogue, statementKey, nextStatementKey, olderStatementKeys, statementKeyLead, issuer, statementCallers, pollSeconds, administrators,
            approvalRequired, sessionCallers, clientSecrets, fetchesPrivately, usage, auditDays
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        catalogue = try container.decodeIfPresent(String.self, forKey: .catalogue)
        statementKey = try container.decode(String.self, forKey: .statementKey)
        nextStatementKey = try container.decodeIfPresent(String.self, forKey: .nextStatementKey)
        olderStatementKeys = try container.decodeIfPresent([String].self, forKey: .olderStatementKeys) ?? []
        statementKeyLead = try container.decodeIfPresent(Int.self, forKey: .statementKeyLead) ?? 60
        guard (0...86_400).contains(statementKeyLead) else {
            throw DecodingError.dataCorruptedError(
                forKey: .statementKeyLead, in: container, debugDescription: "must be from 0 to 86400; it is \(statementKeyLead)")
        }
        issuer = try container.decodeIfPresent(String.self, forKey: .issuer) ?? "boxoffice"
        statementCallers = try container.decode([String].self, forKey: .statementCallers)
        pollSeconds = try container.decodeIfPresent(Int.self, forKey: .pollSeconds) ?? 5
        administrators = try container.decodeIfPresent([AdministratorSettings].self, forKey: .administrators) ?? []
        sessionCallers = try container.decodeIfPresent([String].self, forKey: .sessionCallers) ?? []
        approvalRequired = try container.decodeIfPresent(Bool.self, forKey: .approvalRequired) ?? false
        clientSecrets = try container.decodeIfPresent(String.self, forKey: .clientSecrets)
        fetchesPrivately = try container.decodeIfPresent(Bool.self, forKey: .fetchesPrivately) ?? false
        usage = try container.decodeIfPresent(UsageSettings.self, forKey: .usage) ?? UsageSettings()
        auditDays = try container.decodeIfPresent(Int.self, forKey: .auditDays) ?? 0
        guard auditDays == 0 || (30...36_500).contains(auditDays) else {
            throw DecodingError.dataCorruptedError(
                forKey: .auditDays, in: container, debugDescription: "must be 0, or from 30 to 36500; it is \(auditDays)")
        }
        guard (1...3600).contains(pollSeconds) else {
            throw DecodingError.dataCorruptedError(
                forKey: .pollSeconds, in: container, debugDescription: "must be from 1 to 3600; it is \(pollSeconds)")
        }
        guard !issuer.isEmpty else {
            throw DecodingError.dataCorruptedError(forKey: .issuer, in: container, debugDescription: "must not be empty")
        }
    }
}
