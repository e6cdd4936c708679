internal import Contracts

/// What a call proves its sender with: a bearer, or a signature of its own.
struct Credentials: Sendable {
    let accessToken: String
    let signed: SignedRequest?

    init(accessToken: String, signed: SignedRequest? = nil) {
        self.accessToken = accessToken
        self.signed = signed
    }

    var isEmpty: Bool { accessToken.isEmpty && signed == nil }
}

extension DeviceCall {
    var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest) }
}

extension VerifyAccessTokenRequest {
    var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest) }
}

extension RegistrationCodeRequest {
    var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest) }
}

extension SessionByCodeRequest {
    var credentials: Credentials { Credentials(accessToken: accessToken, signed: signedRequest) }
}
