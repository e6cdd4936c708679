internal import Clocks

/// Makes profiles of people who signed in.
struct ProfileMaking: Sendable {
    let people: [Person]
    let channels: [String]
    let key: SigningKey

    func person(_ name: String) -> Person? { people.first { $0.name == name } }

    /// - Returns: nil when name or password are wrong, or the person may never come in.
    func authenticate(_ name: String, password: String) -> Person? {
        guard let person = person(name), person.password == password, !person.loginFails else { return nil }
        return person
    }

    func attributes(_ person: Person, mvpd: String, encryptsUserID: Bool = false) -> PersonAttributes {
        PersonAttributes(person: person, mvpd: mvpd, channels: channels, key: key, encryptsUserID: encryptsUserID)
    }

    func profile(
        of person: Person, _ owner: ProfileOwner, _ integration: UpstreamCatalogue.Integration, kind: UpstreamProfile.Kind = .regular,
        identities: [SsoIdentity], _ behaviour: UpstreamBehaviour, at now: Timestamp
    ) -> UpstreamProfile {
        var attributes = attributes(person, mvpd: integration.mvpd, encryptsUserID: behaviour.encryptsUserID).all
        if kind == .appleSSO { attributes["tokenSource"] = .init(.text("Apple")) }
        return UpstreamProfile(
            id: RandomText.hexadecimal(octets: 8), owner: owner, mvpd: integration.mvpd, person: person.name, kind: kind, notBefore: now,
            notAfter: now + .seconds(integration.authnSeconds), attributes: attributes, identities: identities,
            visibleFrom: now + .milliseconds(behaviour.visibilityMilliseconds))
    }
}
