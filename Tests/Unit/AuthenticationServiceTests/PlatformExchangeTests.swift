import Clocks
import Contracts
import Faults
import SamlProfile
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct PlatformExchangeTests {
    @Test("rest-v1 #52: a verification token for iOS and tvOS, spelled so", arguments: ["iOS", "tvOS"])
    func createsProfileRequest(_ deviceType: String) async throws {
        let rig = try await PlatformRig()
        let token = try await rig.profileRequest(deviceType: deviceType)
        #expect(token.verificationToken == "dG9rZW4=")
        #expect(token.expiresAtMilliseconds == UInt64((t0 + .seconds(600)).milliseconds))
        let request = try #require(rig.rig.saml.platformRequests.last)
        #expect(request.provider.mvpd.id == "DemoCable" && request.requestor == RequestorID("CHAN7"))
    }

    @Test("rest-v1 #52: any other device type", arguments: ["", "ios", "tvos", "TVOS", "Roku", "iOS "])
    func refusesDeviceType(_ deviceType: String) async throws {
        let rig = try await PlatformRig()
        await expectFault(.invalidRequest) { _ = try await rig.profileRequest(deviceType: deviceType) }
        await expectFault(.invalidRequest) { try await rig.exchange(deviceType: deviceType) }
    }

    @Test("rest-v1 #53: what is not signed in by the platform", arguments: Refused.allCases)
    func refusesUnlessSupported(_ refused: Refused) async throws {
        let rig = try await PlatformRig()
        _ = try await rig.profileRequest()
        rig.rig.catalogue.change(refused.apply)
        rig.rig.saml.accept()
        await expectFault(refused.code) { _ = try await rig.profileRequest(mvpd: refused.mvpd) }
        await expectFault(refused.code) { try await rig.exchange(mvpd: refused.mvpd) }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session() }
    }

    /// MVPD records without platform single sign-on.
    enum Refused: CaseIterable {
        case picker, noStatus, servicesOff, integrationOff, disabled, noPlatform, overrideOff, unknownMvpd, otherKind

        var code: Fault.Code { self == .disabled || self == .unknownMvpd ? .unknownIntegration : .invalidRequest }
        var mvpd: String { self == .unknownMvpd ? "NoCable" : self == .otherKind ? "OpenFiber" : "DemoCable" }

        func apply(_ configuration: inout Configuration) {
            switch self {
            case .picker: configuration.mvpds[0].platforms[0].boardingStatus = .picker
            case .noStatus: configuration.mvpds[0].platforms[0].boardingStatus = .none
            case .servicesOff: configuration.mvpds[0].platforms[0].enablePlatformServices = false
            case .integrationOff: configuration.integrations[0].platformSsoEnabled = false
            case .disabled: configuration.integrations[0].enabled = false
            case .noPlatform: configuration.mvpds[0].platforms.removeAll { $0.platform == .tvos }
            case .overrideOff: configuration.integrations[0].platformOverrides = [PlatformOverride(scope: .tvos, platformSso: .off)]
            case .unknownMvpd, .otherKind: break
            }
        }
    }

    @Test("rest-v1 §6.1, mvpd #90: an MVPD that is bypassed gets no platform request; the exchange lets the person in")
    func refusesBypassedMvpd() async throws {
        let rig = try await PlatformRig()
        rig.rig.catalogue.change { configuration in
            configuration.degradationRules = [
                DegradationRule(
                    id: "r1", kind: .authnAll, requestorID: "CHAN7", mvpdID: "DemoCable", startsAtMilliseconds: UInt64(t0.milliseconds),
                    endsAtMilliseconds: UInt64((t0 + .seconds(60)).milliseconds))
            ]
        }
        await expectFault(.invalidRequest) { _ = try await rig.profileRequest() }
        let session = try await rig.exchange()
        #expect(session.kind == .degraded && session.expiresAtMilliseconds == UInt64((t0 + .seconds(60)).milliseconds))
        rig.rig.clock.advance(by: .seconds(60))
        _ = try await rig.profileRequest()
    }

    @Test("rest-v1 #54: an exchange makes a session of the platform's kind, in place of the old one", arguments: Backend.allCases)
    func exchanges(_ backend: Backend) async throws {
        let rig = try await PlatformRig(backend)
        try await rig.rig.signIn(rig.call)
        _ = try await rig.profileRequest()
        rig.rig.saml.accept(assertion: "_assertion-2", attributes: ["uid"])
        let session = try await rig.exchange()
        #expect(session.kind == .platform && session.mvpd == "DemoCable")
        #expect(try await rig.session() == session)
        let counted = rig.rig.modules.environment.metrics.usage.drain().filter { $0.counts?.sso == 1 }.compactMap(\.dimensions)
        #expect(counted.map(\.ssoType) == ["platform"] && counted.map(\.externalProvider) == ["Apple"] && counted.map(\.mvpdID) == ["DemoCable"])
    }

    @Test("rest-v2 D16: the end of a session of the platform's is the platform's to complete")
    func endsAtThePlatform() async throws {
        let rig = try await PlatformRig()
        rig.rig.catalogue.change { configuration in
            for index in configuration.applications.indices { configuration.applications[index].scopes = ["api:client:v1", "api:client:v2"] }
        }
        let bearer = try await rig.rig.bearer("old")
        let asked = CreateProfileRequestRequest(accessToken: bearer, requestor: "CHAN7", mvpd: "DemoCable", deviceType: "tvOS")
        _ = try await rig.rig.service.createProfileRequest(asked, context: rig.rig.context)
        rig.rig.saml.accept(attributes: ["uid"])
        try await rig.exchange(bearer: bearer)
        var call = rig.rig.v2Call(bearer)
        call.device?.osName = "tvOS"
        let request = EndProfileRequest(call: call, mvpd: "DemoCable", redirectURL: "https://chan7.example/out")
        #expect(try await rig.rig.service.endProfile(request, context: rig.rig.context).end == .platform)
    }

    @Test("rest-v1 §3.12: the lifetime is the pair's own on that platform")
    func usesOwnLifetime() async throws {
        let rig = try await PlatformRig()
        rig.rig.catalogue.change { configuration in
            configuration.integrations[0].authnTtlSeconds = 7200
            configuration.integrations[0].platformOverrides = [PlatformOverride(scope: .tvos, authnTtlSeconds: 3600)]
            configuration.mvpds[0].authnTtlFromMvpd = true
        }
        _ = try await rig.profileRequest()
        rig.rig.saml.accept(sessionEnd: t0 + .seconds(100_000), attributes: ["uid"])
        #expect(try await rig.exchange().expiresAtMilliseconds == UInt64((t0 + .seconds(3600)).milliseconds))
    }

    @Test("rest-v1 #56, mvpd #88: a replay is refused and the first session stays", arguments: Backend.allCases)
    func refusesReplay(_ backend: Backend) async throws {
        let rig = try await PlatformRig(backend)
        _ = try await rig.profileRequest()
        rig.rig.saml.accept(attributes: ["uid"])
        let session = try await rig.exchange()
        await expectFault(.invalidRequest) { try await rig.exchange() }
        _ = try await rig.profileRequest()
        await expectFault(.invalidRequest) { try await rig.exchange() }
        #expect(try await rig.session() == session)
    }

    @Test("rest-v1 #104, mvpd #87: only the client that got the token exchanges, for the same requestor, MVPD and platform, in time")
    func refusesForeignAnswers() async throws {
        let rig = try await PlatformRig()
        rig.rig.saml.accept(attributes: ["uid"])
        await expectFault(.invalidRequest) { try await rig.exchange() }
        _ = try await rig.profileRequest()
        let stranger = try await rig.rig.bearer()
        await expectFault(.invalidRequest) { try await rig.exchange(bearer: stranger) }
        await expectFault(.invalidRequest) { try await rig.exchange(deviceType: "iOS") }
        await expectFault(.invalidRequest) { try await rig.exchange(mvpd: "OtherCable") }
        await expectFault(.invalidRequest) { try await rig.exchange(requestor: "CHAN8") }
        rig.rig.clock.advance(by: .seconds(600))
        await expectFault(.invalidRequest) { try await rig.exchange() }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session() }
    }

    @Test("mvpd §2.8: an answer that names no request, or another one; in the mode `device` the client's newest counts")
    func readsRequestNames() async throws {
        let rig = try await PlatformRig()
        _ = try await rig.profileRequest()
        rig.rig.saml.accept(attributes: ["uid"])
        for claimed in [nil, SamlRequestID("_framework")] {
            rig.rig.saml.claim(claimed)
            await expectFault(.invalidRequest) { try await rig.exchange() }
        }
        rig.rig.catalogue.change { configuration in
            guard case .saml(var endpoint) = configuration.mvpds[0].signIn else { return }
            endpoint.platformExchange = PlatformExchange(inResponseToMode: .device)
            configuration.mvpds[0].signIn = .saml(endpoint)
        }
        #expect(try await rig.exchange().kind == .platform)
        rig.rig.saml.accept(assertion: "_assertion-2", attributes: ["uid"])
        await expectFault(.invalidRequest) { try await rig.exchange() }
    }

    @Test("mvpd #85: a required field is missing; the token stays good for a whole answer")
    func requiresMetadata() async throws {
        let rig = try await PlatformRig()
        _ = try await rig.profileRequest()
        for attributes in [[], ["UID"], ["householdID"]] as [Set<String>] {
            rig.rig.saml.accept(attributes: attributes)
            await expectFault(.invalidRequest) { try await rig.exchange() }
        }
        rig.rig.saml.accept(attributes: ["uid", "householdID"])
        #expect(try await rig.exchange().kind == .platform)
    }

    @Test("rest-v1 #55: what is no Base64, or the MVPD's refusal")
    func refusesUnreadable() async throws {
        let rig = try await PlatformRig()
        _ = try await rig.profileRequest()
        rig.rig.saml.accept(attributes: ["uid"])
        for text in ["", "PFJl%0A", "PFJl*c3Bv", "PFJl\u{a0}c3Bv", "PFJlc3BvbnNlLz4", "PFJ-_3BvbnNlLz4="] {
            await expectFault(.invalidRequest) { try await rig.exchange(response: text) }
        }
        for verdict in [ResponseVerdict.silent, .status(codes: ["Responder", "AuthnFailed"]), .status(codes: ["VersionMismatch"])] {
            rig.rig.saml.answer(verdict)
            await expectFault(.invalidRequest) { try await rig.exchange() }
        }
    }

    @Test("rest-v1 §3.12: device information is optional, the device id is not")
    func needsNoDeviceInformation() async throws {
        let rig = try await PlatformRig()
        _ = try await rig.profileRequest()
        rig.rig.saml.accept(attributes: ["uid"])
        await expectFault(.invalidDeviceID) { try await rig.exchange(device: "", hasInformation: false) }
        #expect(try await rig.exchange(hasInformation: false).kind == .platform)
    }

    @Test("rest-v1 #57: a login at the MVPD after an exchange is an ordinary one")
    func ordinaryLoginFollows() async throws {
        let rig = try await PlatformRig()
        _ = try await rig.profileRequest()
        rig.rig.saml.accept(attributes: ["uid"])
        try await rig.exchange()
        try await rig.rig.signIn(rig.call, assertion: "_assertion-2")
        #expect(try await rig.session().kind == .regular)
    }
}

/// A rig with an MVPD that has single sign-on on Apple's platforms, and an app on a tvOS device.
struct PlatformRig {
    let rig: Rig
    let bearer: String

    init(_ backend: Backend = .sqlite) async throws {
        rig = try Rig(backend)
        rig.catalogue.change { configuration in
            configuration.mvpds[0].platforms = [Platform.tvos, .ios].map { platform in
                PlatformSettings(
                    platform: platform, enablePlatformServices: true, boardingStatus: .supported, platformMappingID: "demo-cable",
                    requiredMetadataFields: ["uid", "NameID"])
            }
            configuration.integrations = configuration.integrations.map { integration in
                var integration = integration
                integration.platformSsoEnabled = true
                return integration
            }
        }
        bearer = try await rig.bearer()
    }

    var call: DeviceCall { rig.call(bearer) }

    func session() async throws -> Session { try await rig.session(call) }

    func profileRequest(mvpd: String = "DemoCable", deviceType: String = "tvOS") async throws -> ProfileRequest {
        let request = CreateProfileRequestRequest(accessToken: bearer, requestor: "CHAN7", mvpd: mvpd, deviceType: deviceType)
        return try await rig.service.createProfileRequest(request, context: rig.context)
    }

    @discardableResult
    func exchange(
        bearer: String? = nil, requestor: String = "CHAN7", mvpd: String = "DemoCable", deviceType: String = "tvOS", device: String = "dev-7f3a",
        response: String = "PFJlc3BvbnNlLz4=", hasInformation: Bool = true
    ) async throws -> Session {
        var call = rig.call(bearer ?? self.bearer, requestor: requestor, device: device)
        call.deviceType = deviceType
        if !hasInformation { call.device = nil }
        let request = ExchangePlatformProfileRequest(call: call, mvpd: mvpd, samlResponse: response)
        return try await rig.service.exchangePlatformProfile(request, context: rig.context)
    }
}
