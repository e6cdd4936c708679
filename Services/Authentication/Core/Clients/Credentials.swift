internal import Contracts

/// What a call proves its sender with: a bearer, or a signature of its own; and for which API.
struct Credentials: Sendable {
    let accessToken: String
    let signed: SignedRequest?
    let api: ApiVersion

    init(accessToken: String, signed: SignedRequest? = nil, api: ApiVersion = .v1) {
        self.accessToken = accessToken
        self.signed = signed
        self.api = api
    }

    var isEmpty: Bool { accessToken.isEmpty && signed == nil }
}

extension DeviceCall {
    var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}

extension VerifyAccessTokenRequest {
    var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}

extension RegistrationCodeRequest {
    var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}

extension SessionByCodeRequest {
    var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest, api: api) }
}
