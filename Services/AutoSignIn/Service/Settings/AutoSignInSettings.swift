/// The `autosignin` object of the service's settings file. Paths are relative to that file.
public struct AutoSignInSettings: Decodable, Sendable {
    /// Key of everything that is sealed, 64 hex digits. With a new one all values, answers and tokens that are kept become useless, unless the former
    /// one is listed below.
    public let sealKey: String
    /// Keys from before, newest first: what they sealed opens. A value is sealed anew when it is replaced.
    public let olderSealKeys: [String]
    /// Folder with the private keys of developer teams, which the catalogue refers to by their file names.
    public let secrets: String
    /// The public address to which Apple sends browsers back, exactly as Apple knows it (apple §2.1).
    public let callbackURL: String
    /// The public address of the pages where people see their devices.
    public let devicesURL: String
    /// Apple's servers; the real ones unless set.
    public let apple: AppleAddresses
    /// Redeems of one address within a minute, 1 to 1000000; 10 unless set (apple §1.2).
    public let redeemsPerMinute: Int
    /// Families of one account that are not over, 1 to 1000; 20 unless set.
    public let familiesPerAccount: Int
    /// Accounts, sessions, families and values kept in memory, of each 2 to 10000000; 65536 unless set.
    public let cached: Int

    private enum CodingKeys: String, CodingKey {
        case sealKey, olderSealKeys, secrets, callbackURL, devicesURL, apple, redeemsPerMinute, familiesPerAccount, cached
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        sealKey = try container.text(.sealKey)
        olderSealKeys = try container.decodeIfPresent([String].self, forKey: .olderSealKeys) ?? []
        secrets = try container.text(.secrets)
        callbackURL = try container.address(.callbackURL)
        devicesURL = try container.address(.devicesURL)
        apple = try container.decodeIfPresent(AppleAddresses.self, forKey: .apple) ?? AppleAddresses()
        redeemsPerMinute = try container.number(.redeemsPerMinute, 1...1_000_000, default: 10)
        familiesPerAccount = try container.number(.familiesPerAccount, 1...1000, default: 20)
        cached = try container.number(.cached, 2...10_000_000, default: 65_536)
    }

    /// For a service within a test.
    init(
        callbackURL: String, devicesURL: String, apple: AppleAddresses, redeemsPerMinute: Int = 10, familiesPerAccount: Int = 20
    ) {
        (sealKey, olderSealKeys, secrets, self.callbackURL, self.devicesURL) = ("", [], "", callbackURL, devicesURL)
        (self.apple, self.redeemsPerMinute, self.familiesPerAccount, cached) = (apple, redeemsPerMinute, familiesPerAccount, 1024)
    }
}
