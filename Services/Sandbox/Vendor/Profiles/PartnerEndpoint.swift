internal import Clocks
internal import FoundationEssentials
internal import SandboxKit

/// Sign-in by Apple's platform (rest-v2 §2.12, §2.13).
struct PartnerEndpoint: Sendable {
    let memory: VendorMemory
    let making: ProfileMaking

    /// `POST /api/v2/{sp}/sessions/sso/{partner}`: faults of the framework's status are fallbacks here.
    func session(_ call: VendorCall) throws -> VendorAnswer {
        let answer: SessionAnswer = try memory.access { state in
            let caller = try DeviceCaller(call, state)
            try Self.check(partner: call)
            let status = PartnerStatus(header: call.header("ap-partner-framework-status"))
            let mvpd = status.fault(for: nil, state.catalogue, at: call.now, .expiryNeeded) == nil ? status.mvpd(state.catalogue) : nil
            if let mvpd { _ = try caller.integration(mvpd.id, state) }
            var session = VendorSession(
                code: state.sessions.freshCode(), id: UUID().uuidString.lowercased(), serviceProvider: caller.serviceProvider.id,
                client: caller.client, device: caller.device, info: caller.info, address: call.address, identities: caller.identities,
                notBefore: call.now, notAfter: call.now + .seconds(state.behaviour.sessionSeconds))
            session.mvpd = mvpd?.id
            session.domainName = RedirectAddress.domain(call.field("domainName"))
            session.redirectURL = call.field("redirectUrl").flatMap { RedirectAddress.checked($0, for: caller.serviceProvider) }
            if let mvpd, let ready = Self.ready(caller, mvpd, status, session, state, at: call.now) { return ready }
            if let reason = Self.fallback(caller, mvpd, session) {
                state.sessions.add(session)
                return SessionAnswer(session, incomplete: "resume", reason: reason, state.behaviour)
            }
            return try Self.platformAnswer(caller, mvpd, session, &state, at: call.now)
        }
        return try .json(answer, outcome: answer.reasonType == "none" ? answer.actionName : answer.reasonType)
    }

    /// `POST /api/v2/{sp}/profiles/sso/{partner}`: 201, or 200 under AuthNAll.
    func profile(_ call: VendorCall) throws -> VendorAnswer {
        let (body, status): (ProfilesBody, Int) = try memory.access { state in
            let caller = try DeviceCaller(call, state)
            try Self.check(partner: call)
            guard let octets = call.field("SAMLResponse").flatMap(Base64.octets), let answer = PartnerMessages.answer(octets) else {
                throw VendorRefusal(.invalidSamlResponse)
            }
            let framework = PartnerStatus(header: call.header("ap-partner-framework-status"))
            let asked = state.partnerRequests.request(answer.id)?.mvpd
            let fault = framework.fault(for: asked.flatMap { state.catalogue.mvpd($0) }, state.catalogue, at: call.now, .expiryNeeded)
            if let fault { throw VendorRefusal(fault) }
            guard let request = state.partnerRequests.take(answer.id, at: call.now), request.client == caller.client,
                request.device == caller.device, request.serviceProvider == caller.serviceProvider.id, let person = making.person(answer.person)
            else { throw VendorRefusal(.invalidSamlResponse) }
            let (mvpd, integration) = try caller.integration(request.mvpd, state)
            if let degraded = state.degradedProfile(caller.device, mvpd.id, of: caller.serviceProvider.id, at: call.now) {
                return (ProfilesBody(profiles: [mvpd.id: degraded]), 200)
            }
            let owner = ProfileOwner(client: caller.client, device: caller.device, serviceProvider: caller.serviceProvider.id)
            let profile = making.profile(
                of: person, owner, integration, kind: .appleSSO, identities: caller.identities, state.behaviour, at: call.now)
            state.profiles.set(profile)
            return (ProfilesBody(profiles: [mvpd.id: ProfileBody(profile, state.behaviour)]), 201)
        }
        return try .json(body, status: status, outcome: status == 201 ? "appleSSO" : "degraded")
    }

    private static func check(partner call: VendorCall) throws(VendorRefusal) {
        guard call.parameter("partner").lowercased() == "apple" else { throw VendorRefusal(.invalidPartner) }
    }

    /// A valid profile, or a degraded MVPD.
    private static func ready(
        _ caller: DeviceCaller, _ mvpd: VendorCatalogue.Mvpd, _ status: PartnerStatus, _ session: VendorSession, _ state: VendorState,
        at now: Timestamp
    ) -> SessionAnswer? {
        func authorize(_ reason: String) -> SessionAnswer {
            .authorize(
                reason, mvpd: mvpd.id, of: session.serviceProvider, prefix: state.behaviour.sessionURLPrefix, sessionID: session.id)
        }
        if let profile = state.profile(caller, mvpd, status, at: now) {
            return authorize(profile.type == .regular || profile.type == .appleSSO ? "authenticated" : "authenticatedSSO")
        }
        return state.rule(.authNAll, session.serviceProvider, mvpd.id, resource: nil, at: now).map { _ in authorize("degraded") }
    }

    /// Why the person signs in with a browser instead; nil: the platform can do it.
    private static func fallback(_ caller: DeviceCaller, _ mvpd: VendorCatalogue.Mvpd?, _ session: VendorSession) -> String? {
        if session.domainName == nil || session.redirectURL == nil { return "missing_parameters_fallback" }
        guard let mvpd else { return "pfs_fallback" }
        return mvpd.boardingStatus == "SUPPORTED" && caller.info.isApple ? nil : "configuration_fallback"
    }

    private static func platformAnswer(
        _ caller: DeviceCaller, _ mvpd: VendorCatalogue.Mvpd?, _ session: VendorSession, _ state: inout VendorState, at now: Timestamp
    ) throws -> SessionAnswer {
        guard let mvpd else { throw VendorRefusal(.partnerProviderNotDetermined) }
        let id = RandomIdentifier.next()
        state.partnerRequests.add(
            id,
            PartnerRequests.Request(
                client: caller.client, device: caller.device, serviceProvider: session.serviceProvider, mvpd: mvpd.id, madeAt: now))
        let request = Base64.text(Array(PartnerMessages.request(id, mvpd: mvpd.id).utf8))
        return SessionAnswer(
            actionName: "partner_profile", actionType: "direct", reasonType: "none",
            url: "\(state.behaviour.sessionURLPrefix)/api/v2/\(session.serviceProvider)/profiles/sso/Apple", sessionId: session.id,
            serviceProvider: session.serviceProvider, mvpd: mvpd.id,
            authenticationRequest: .init(type: "saml", request: request, attributesNames: PartnerMessages.attributes))
    }
}

/// Makes profiles of people who signed in.
struct ProfileMaking: Sendable {
    let people: [Person]
    let channels: [String]
    let key: SandboxSigningKey

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
        of person: Person, _ owner: ProfileOwner, _ integration: VendorCatalogue.Integration, kind: VendorProfile.Kind = .regular,
        identities: [SsoIdentity], _ behaviour: VendorBehaviour, at now: Timestamp
    ) -> VendorProfile {
        var attributes = attributes(person, mvpd: integration.mvpd, encryptsUserID: behaviour.encryptsUserID).all
        if kind == .appleSSO { attributes["tokenSource"] = .init(.text("Apple")) }
        return VendorProfile(
            id: RandomText.hexadecimal(octets: 8), owner: owner, mvpd: integration.mvpd, person: person.name, kind: kind, notBefore: now,
            notAfter: now + .seconds(integration.authnSeconds), attributes: attributes, identities: identities,
            visibleFrom: now + .milliseconds(behaviour.visibilityMilliseconds))
    }
}

/// An MVPD's attributes of a person (rest-v2 §4).
struct PersonAttributes: Sendable {
    let person: Person
    let mvpd: String
    let channels: [String]
    let key: SandboxSigningKey
    let encryptsUserID: Bool

    /// The person's name at the MVPD; the same at each login.
    var userID: String { "u-" + hash("user-id", 16) }

    /// The person's scrambled name in media tokens, the same on all devices.
    var sessionGUID: String { hash("session-guid", 32) }

    var all: [String: VendorProfile.Attribute] {
        let household = "household-" + hash("household", 8)
        return [
            "userID": encryptsUserID ? encrypted("userID") : .init(.text(userID)),
            "upstreamUserID": .init(.text(userID)), "householdID": .init(.text(household)), "primaryOID": .init(.text(household)),
            "typeID": .init(.text(person.isHeadOfHousehold ? "Primary" : "Secondary")),
            "is_hoh": .init(.text(person.isHeadOfHousehold ? "1" : "0")), "hba_status": .init(.flag(false)), "allowMirroring": .init(.flag(true)),
            "zip": encrypted("zip"), "channelID": .init(.list(ownChannels.map { .text($0) })),
            "maxRating": .init(
                .object(["MPAA": .text(person.maximumFilmRating ?? "NC-17"), "VCHIP": .text(person.maximumTelevisionRating ?? "TV-MA")])),
            "language": .init(.text("en")), "onNet": .init(.flag(false)), "inHome": .init(.flag(false)), "mvpd": .init(.text(mvpd)),
        ]
    }

    private var ownChannels: [String] {
        switch person.subscription {
        case .everything: channels
        case .channels(let own): channels.filter(own.contains)
        }
    }

    /// Looks like a value that was encrypted with a programmer's RSA key of 2048 bits; nobody can decrypt it.
    private func encrypted(_ name: String) -> VendorProfile.Attribute {
        let octets = (0..<8).flatMap { code("encrypted-\(name)-\($0)") }
        return .init(.text(Base64.text(octets)), state: "enc")
    }

    private func hash(_ purpose: String, _ length: Int) -> String { String(Hexadecimal.text(code(purpose)).prefix(length)) }

    private func code(_ purpose: String) -> [UInt8] {
        // The key was checked when it was read: a code can be made of it.
        (try? key.authenticationCode(of: Array("\(mvpd)\u{0}\(person.name)".utf8), purpose: purpose)) ?? []
    }
}
