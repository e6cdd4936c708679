/// Which channels an MVPD lets a person watch.
struct ChannelPolicy: Sendable {
    let channels: [String]

    /// - Parameter resource: A channel, or a Media RSS document with a channel's title and perhaps a rating.
    /// - Returns: nil: the person may watch.
    func denial(_ resource: String, _ person: Person, isPreauthorization: Bool) -> UpstreamProblem? {
        let denied: UpstreamErrorCode = isPreauthorization ? .preauthorizationDenied : .denied
        let asked = Self.asked(resource)
        guard channels.contains(where: { $0 == asked.channel }) else {
            return UpstreamProblem(denied, details: "This provider does not carry the channel")
        }
        guard pays(person, for: asked.channel) else {
            return UpstreamProblem(denied, details: "Add \(asked.channel) to your package to watch it")
        }
        guard asked.ratings.allSatisfy({ Self.isAllowed($0, for: person) }) else { return UpstreamProblem(.deniedByParentalControls) }
        return nil
    }

    private func pays(_ person: Person, for channel: String) -> Bool {
        switch person.subscription {
        case .everything: true
        case .channels(let own): own.contains { $0 == channel }
        }
    }

    private static func asked(_ resource: String) -> (channel: String, ratings: [String]) {
        guard resource.hasPrefix("<"), let request = try? XacmlRequest(subject: nil, mediaRss: Array(resource.utf8)),
            let asked = request.resources.first
        else { return (resource, []) }
        return (asked.channel ?? asked.identifier, asked.ratings)
    }

    private static func isAllowed(_ rating: String, for person: Person) -> Bool {
        if Rating.film.rank(rating) != nil { return Rating.film.allows(rating, limit: person.maximumFilmRating) }
        return Rating.television.allows(rating, limit: person.maximumTelevisionRating)
    }
}
