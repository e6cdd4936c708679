/// The object `gateway.shares`: how many requests an application and a requestor may make at this copy, whatever addresses they come from
/// (Shared/Documents/Decisions/0082).
public struct ShareSettings: Sendable, Equatable {
    /// Requests per second of one registered application that pass for ever, 1 to 1000000; 0: any number.
    public var perApplication: Int
    /// Requests of it that may come beside those at once, 0 to 1000000.
    public var applicationBurst: Int
    /// The same for one requestor, with all of its applications.
    public var perRequestor: Int
    public var requestorBurst: Int
    /// Calls per second of everybody together whose credentials nobody has accepted yet, or who have none, 0 to 1000000; 0: any number.
    public var unverified: Int
    /// Such calls that may come beside those at once, 0 to 1000000.
    public var unverifiedBurst: Int

    public init(
        perApplication: Int = 2000, applicationBurst: Int = 4000, perRequestor: Int = 4000, requestorBurst: Int = 8000, unverified: Int = 4000,
        unverifiedBurst: Int = 8000
    ) {
        self.perApplication = perApplication
        self.applicationBurst = applicationBurst
        self.perRequestor = perRequestor
        self.requestorBurst = requestorBurst
        self.unverified = unverified
        self.unverifiedBurst = unverifiedBurst
    }

    /// Without limits.
    public static let unlimited = ShareSettings(perApplication: 0, perRequestor: 0, unverified: 0)

    /// The first problem: key below `shares` and text.
    var problem: (key: String, text: String)? {
        let named = [
            ("perApplication", perApplication), ("applicationBurst", applicationBurst), ("perRequestor", perRequestor),
            ("requestorBurst", requestorBurst), ("unverified", unverified), ("unverifiedBurst", unverifiedBurst),
        ]
        guard let wrong = named.first(where: { !(0...1_000_000).contains($0.1) }) else { return nil }
        return (wrong.0, "must be from 0 to 1000000")
    }
}

extension ShareSettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case perApplication, applicationBurst, perRequestor, requestorBurst, unverified, unverifiedBurst
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        perApplication = try container.decodeIfPresent(Int.self, forKey: .perApplication) ?? perApplication
        applicationBurst = try container.decodeIfPresent(Int.self, forKey: .applicationBurst) ?? applicationBurst
        perRequestor = try container.decodeIfPresent(Int.self, forKey: .perRequestor) ?? perRequestor
        requestorBurst = try container.decodeIfPresent(Int.self, forKey: .requestorBurst) ?? requestorBurst
        unverified = try container.decodeIfPresent(Int.self, forKey: .unverified) ?? unverified
        unverifiedBurst = try container.decodeIfPresent(Int.self, forKey: .unverifiedBurst) ?? unverifiedBurst
    }
}
