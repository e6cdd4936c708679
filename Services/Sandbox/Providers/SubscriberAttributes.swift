/// What the provider tells about a person (mvpd §2.5).
struct SubscriberAttributes {
    let person: Person
    let subscribers: Subscribers
    var isHomeBased = false

    /// Attribute names with their values, in a stable order; none without a value.
    var all: [(name: String, values: [String])] {
        let userID = subscribers.persistentName(of: person)
        let household = "household-" + userID.prefix(8)
        return [
            ("userID", [userID]),
            ("upstreamUserID", [userID]),
            ("householdID", [household]),
            ("primaryOID", [household]),
            ("typeID", [person.isHeadOfHousehold ? "Primary" : "Secondary"]),
            ("is_hoh", [person.isHeadOfHousehold ? "1" : "0"]),
            ("hba_status", [isHomeBased ? "true" : "false"]),
            ("allowMirroring", ["true"]),
            ("zip", person.zip),
            ("channelID", subscribers.channels(of: person)),
            ("maxRating", [rating]),
            ("MaxTVRating", [person.maximumTelevisionRating ?? "TV-MA"]),
            ("MaxMovieRating", [person.maximumFilmRating ?? "NC-17"]),
            ("language", ["en"]),
            ("onNet", ["false"]),
            ("inHome", ["false"]),
        ].filter { !$0.values.isEmpty }
    }

    // Ratings are fixed words without characters that JSON escapes.
    private var rating: String {
        #"{"MPAA":"\#(person.maximumFilmRating ?? "NC-17")","VCHIP":"\#(person.maximumTelevisionRating ?? "TV-MA")"}"#
    }
}
