/// A subscriber of the stand-in.
package struct Person: Sendable, Equatable {
    /// The channels that a person pays for.
    package enum Subscription: Sendable, Equatable {
        case everything
        case channels([String])
    }

    /// The login name.
    package var name: String
    package var password: String
    package var subscription: Subscription
    /// The highest V-Chip rating this person may watch; nil for no limit.
    package var maximumTelevisionRating: String?
    /// The highest MPAA rating this person may watch; nil for no limit.
    package var maximumFilmRating: String?
    package var zip: [String]
    package var isHeadOfHousehold: Bool
    /// A person that the provider refuses even with the right password.
    package var loginFails: Bool

    /// A person with the password that equals the name.
    package init(
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
    package static let standardChannels = ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS", "ACME2-MOVIES", "BRAVO"]

    /// The people who live here when the settings do not say otherwise.
    package static let standard = [
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

extension Person {
    /// A person in the settings file.
    package struct Entry: Decodable {
        let name: String
        let password: String?
        let channels: [String]?
        let maxVCHIP: String?
        let maxMPAA: String?
        let zip: [String]?
        let headOfHousehold: Bool?
        let loginFails: Bool?
    }

    package init(_ entry: Entry) {
        let channels = entry.channels ?? ["*"]
        self.init(name: entry.name, subscription: channels == ["*"] ? .everything : .channels(channels))
        password = entry.password ?? entry.name
        maximumTelevisionRating = entry.maxVCHIP
        maximumFilmRating = entry.maxMPAA
        zip = entry.zip ?? zip
        isHeadOfHousehold = entry.headOfHousehold ?? true
        loginFails = entry.loginFails ?? false
    }

    /// The channels that the person may watch, in words.
    package func rights(outOf channels: [String]) -> String {
        if loginFails { return "login always fails" }
        let limit = maximumTelevisionRating.map { ", nothing above \($0)" } ?? ""
        switch subscription {
        case .everything: return "all channels" + limit
        case .channels(let own):
            let carried = channels.filter(own.contains)
            return (carried.isEmpty ? "no channel" : carried.joined(separator: ", ")) + limit
        }
    }
}

/// A scheme of parental ratings, mildest first.
package enum Rating: Sendable {
    case television
    case film

    private var order: [String] {
        switch self {
        case .television: ["TV-Y", "TV-Y7", "TV-G", "TV-PG", "TV-14", "TV-MA"]
        case .film: ["G", "PG", "PG-13", "R", "NC-17"]
        }
    }

    /// - Returns: nil for a text that the scheme does not have.
    package func rank(_ text: String) -> Int? {
        order.firstIndex(of: text.uppercased() == "TV-Y7-FV" ? "TV-Y7" : text.uppercased())
    }

    /// True when a rating is within a limit; one that the scheme does not have is not.
    package func allows(_ rating: String, limit: String?) -> Bool {
        guard let limit else { return true }
        guard let asked = rank(rating), let highest = rank(limit) else { return false }
        return asked <= highest
    }
}
