/// A subscriber of the stand-in.
public struct Person: Sendable, Equatable {
    /// Which channels a person pays for.
    public enum Subscription: Sendable, Equatable {
        case everything
        case channels([String])
    }

    /// The login name.
    public var name: String
    public var password: String
    public var subscription: Subscription
    /// The highest V-Chip rating this person may watch; nil for no limit.
    public var maximumTelevisionRating: String?
    /// The highest MPAA rating this person may watch; nil for no limit.
    public var maximumFilmRating: String?
    public var zip: [String]
    public var isHeadOfHousehold: Bool
    /// A person that the provider refuses even with the right password.
    public var loginFails: Bool

    /// A person with the password that equals the name.
    public init(
        name: String, subscription: Subscription, maximumTelevisionRating: String? = nil, maximumFilmRating: String? = nil,
        zip: [String] = ["10001"], isHeadOfHousehold: Bool = true, loginFails: Bool = false
    ) {
        self.name = name
        password = name
        self.subscription = subscription
        self.maximumTelevisionRating = maximumTelevisionRating
        self.maximumFilmRating = maximumFilmRating
        self.zip = zip
        self.isHeadOfHousehold = isHeadOfHousehold
        self.loginFails = loginFails
    }

    /// The channels that exist when the settings do not say otherwise.
    public static let standardChannels = ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS", "ACME2-MOVIES", "BRAVO"]

    /// The people who live here when the settings do not say otherwise.
    public static let standard = [
        Person(name: "ada", subscription: .everything),
        Person(name: "ben", subscription: .channels(["ACME1-NEWS"]), zip: ["60601"]),
        Person(name: "cleo", subscription: .channels([]), zip: ["94103"]),
        Person(
            name: "dan", subscription: .everything, maximumTelevisionRating: "TV-PG", maximumFilmRating: "PG", zip: ["10001", "10002"],
            isHeadOfHousehold: false
        ),
        Person(name: "eve", subscription: .everything, loginFails: true),
    ]
}
