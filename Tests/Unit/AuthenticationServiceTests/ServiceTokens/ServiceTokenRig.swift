import Clocks
import Contracts
import Cryptography
import Faults
import Testing
import Tokens

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// A rig of two programmers, each with apps, a backend that names people, and an identity service that both have registered.
struct ServiceTokenRig {
    static let issuer = "https://identity.example"
    private static let foreignKey = Result { try RSAPrivateKey.generate() }

    let rig: Rig
    let app: String
    let second: String
    let backend: String
    let foreign: String
    let foreignBackend: String

    init(_ backend: Backend = .sqlite) async throws {
        rig = try Rig(backend)
        let keys = JSONWebKeySet(keys: [JSONWebKey(.rsa(try Self.foreignKey.get().publicKey), identifier: "r1", algorithm: .rs256)]).json
        rig.catalogue.change { configuration in
            for index in configuration.applications.indices {
                let isForeign = configuration.applications[index].id == "foreign"
                configuration.applications[index].programmerID = isForeign ? "other" : "seven"
                configuration.applications[index].scopes.append("api:client:v2")
                configuration.applications[index].ssoIssuer = configuration.applications[index].id == "backend"
            }
            configuration.applications.append(
                Application(
                    id: "foreign-backend", programmerID: "other", requestorIDs: ["FOREIGN"], scopes: ["api:client:v2"],
                    softwareIDs: ["software-foreign-backend"], ssoIssuer: true))
            configuration.serviceTokenIssuers = [ServiceTokenIssuer(issuer: Self.issuer, jwks: keys, programmerIDs: ["seven"])]
        }
        (app, second) = (try await rig.bearer(), try await rig.bearer())
        self.backend = try await rig.bearer("backend")
        (foreign, foreignBackend) = (try await rig.bearer("foreign"), try await rig.bearer("foreign-backend"))
    }

    func call(_ bearer: String, device: String = "dev-1", requestor: String = "CHAN7", token: String = "") -> DeviceCall {
        var call = rig.call(bearer, requestor: requestor, device: device)
        (call.api, call.serviceToken) = (.v2, token)
        return call
    }

    // MARK: The service that issues them

    func issue(_ call: DeviceCall, person: String = "", link: String = "") async throws -> String {
        try await rig.service.issueServiceToken(IssueServiceTokenRequest(call: call, person: person, link: link), context: rig.context).token
    }

    /// The token of a programmer's own backend.
    func token(_ person: String = "ada", device: String = "dev-1") async throws -> String {
        try await issue(call(backend, device: device), person: person)
    }

    func refresh(_ token: String, _ bearer: String? = nil, requestor: String = "CHAN7") async throws -> String {
        let request = RefreshServiceTokenRequest(accessToken: bearer ?? app, requestor: requestor, serviceToken: token, api: .v2)
        return try await rig.service.refreshServiceToken(request, context: rig.context).token
    }

    func link(_ token: String, device: String = "dev-1") async throws -> String {
        try await rig.service.createServiceLink(ServiceTokenCall(call: call(app, device: device, token: token)), context: rig.context).code
    }

    func devices(_ token: String, _ bearer: String? = nil, device: String = "dev-1") async throws -> [ServiceDevice] {
        let request = ServiceTokenCall(call: call(bearer ?? app, device: device, token: token))
        return try await rig.service.listServiceDevices(request, context: rig.context).devices
    }

    func unlink(_ devices: [String], _ token: String) async throws -> [String] {
        let request = UnlinkServiceDevicesRequest(call: call(app, token: token), devices: devices)
        return try await rig.service.unlinkServiceDevices(request, context: rig.context).devices
    }

    // MARK: Apps

    func profiles(_ call: DeviceCall) async throws -> [Session] {
        try await rig.service.findProfiles(FindProfilesRequest(call: call), context: rig.context).profiles.compactMap(\.session)
    }

    func signIn(_ call: DeviceCall, mvpd: String = "DemoCable", assertion: String = "_assertion-1") async throws {
        try await rig.signIn(call, mvpd: mvpd, assertion: assertion)
    }

    func logout(_ call: DeviceCall) async throws -> ProfileEnd {
        let request = EndProfileRequest(call: call, mvpd: "DemoCable", redirectURL: "https://\(call.requestor.lowercased()).example/out")
        return try await rig.service.endProfile(request, context: rig.context).end
    }

    // MARK: Tokens of others

    /// An identity service's.
    func foreignToken(
        _ subject: String = "u-1", header: String = #"{"alg":"RS256","kid":"r1"}"#, issuer: String = Self.issuer, audience: String = "adobe",
        expiry: Int64 = t0.seconds + 3600, further: String = "", sign: (([UInt8]) throws -> [UInt8])? = nil
    ) throws -> String {
        let claims = #"{"iss":"\#(issuer)","sub":"\#(subject)","aud":"\#(audience)","exp":\#(expiry)\#(further)}"#
        let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(claims.utf8))
        let bytes = Array(input.utf8)
        return input + "." + Base64.url.encode(try sign.map { try $0(bytes) } ?? Self.foreignKey.get().sign(bytes))
    }
}
