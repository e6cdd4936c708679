package import Contracts
package import Faults
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
package import Hummingbird
internal import Tokens

/// A fault of the access token, answered as rest-v1 §2.2 says.
package struct BearerRejection: Error {
    package let fault: Fault

    package init(fault: Fault) { self.fault = fault }

    package static let codes: Set<Fault.Code> = [.accessDenied, .invalidClient, .insufficientScope]

    /// True for an error that says something of the access token.
    package static func isOne(_ error: any Error) -> Bool {
        error is BearerRejection || (error as? Fault).map { codes.contains($0.code) } ?? false
    }

    package static func status(_ code: Fault.Code) -> HTTPResponse.Status {
        switch code {
        case .accessDenied: .unauthorized
        case .invalidRequest: .badRequest
        default: .forbidden
        }
    }

    /// The name that the successor API has for it (rest-v2 §3).
    package static func enhancedCode(_ code: Fault.Code) -> String {
        code == .insufficientScope ? "invalid_access_token_service_provider" : "invalid_access_token_client_application"
    }
}

/// A client that authenticated in the `Authorization` header and is not known so: 401 with a challenge (RFC 6749 §5.2).
package struct BasicRejection: Error {
    package let fault: Fault

    package init(fault: Fault) { self.fault = fault }
}

/// The proof of a request's sender: an access token, or a signature of its own (clients §2).
package struct Credentials: Sendable {
    package var accessToken = ""
    package var signed: SignedRequest?
    /// The requestor that a signature names; it stands in where the call names none (clients §1.6).
    package var signedRequestor: String?

    package init(accessToken: String = "", signed: SignedRequest? = nil, signedRequestor: String? = nil) {
        self.accessToken = accessToken
        self.signed = signed
        self.signedRequestor = signedRequestor
    }

    /// - Returns: `nil` when none were sent.
    /// - Throws: `BearerRejection` when several were sent, or the header is of another scheme.
    package static func optional(_ exchange: Exchange) throws -> Credentials? {
        guard let header = exchange.headers[values: .authorization].first(where: SignedRequestHeader.isMeant) else {
            guard let token = try Bearer.optional(exchange) else { return nil }
            exchange.credentials.markHandedOn()
            return Credentials(accessToken: token)
        }
        let tokens = (try? exchange.all("access_token")) ?? []
        guard exchange.headers[values: .authorization].count == 1, tokens.allSatisfy(\.isEmpty) else {
            throw BearerRejection(fault: Fault(.invalidRequest, "A signature and an access token were sent."))
        }
        let request = SignedRequest(
            header: header, method: exchange.method.rawValue, target: exchange.target, clientAddress: exchange.facts.clientAddress.text,
            isPlain: exchange.facts.isReadableOnTheWay)
        // The owning service finds out if the text holds.
        exchange.credentials.markHandedOn()
        return Credentials(signed: request, signedRequestor: SignedRequestHeader(header)?.requestorID)
    }

    /// - Throws: `BearerRejection`, also when none were sent.
    package static func required(_ exchange: Exchange) throws -> Credentials {
        guard let credentials = try optional(exchange) else { throw BearerRejection(fault: Fault(.accessDenied, "An access token is required.")) }
        return credentials
    }

    package func verification(requestor: String = "") -> VerifyAccessTokenRequest {
        VerifyAccessTokenRequest(accessToken: accessToken, requestor: requestor, signedRequest: signed)
    }
}

/// The access token of a request: `Authorization: Bearer`, or `access_token` in the query (rest-v1 §2.2).
package enum Bearer {
    /// - Returns: `nil` when none was sent.
    /// - Throws: `BearerRejection` when two different ones were sent, or the header is of another scheme.
    package static func optional(_ exchange: Exchange) throws -> String? {
        let headers = exchange.headers[values: .authorization]
        var tokens = ((try? exchange.all("access_token")) ?? []).filter { !$0.isEmpty }
        for header in headers {
            guard let token = token(in: header) else { throw BearerRejection(fault: Fault(.accessDenied, "The access token is malformed.")) }
            tokens.append(token)
        }
        guard tokens.dropFirst().allSatisfy({ $0 == tokens[0] }) else {
            throw BearerRejection(fault: Fault(.invalidRequest, "Two access tokens were sent."))
        }
        return tokens.first
    }

    /// - Throws: `BearerRejection`, also when none was sent.
    package static func required(_ exchange: Exchange) throws -> String {
        guard let token = try optional(exchange) else { throw BearerRejection(fault: Fault(.accessDenied, "An access token is required.")) }
        exchange.credentials.markHandedOn()
        return token
    }

    /// Tokens are long: the library's search takes eight octets at a time and more.
    private static func holdsBlank(_ text: Substring.UTF8View) -> Bool {
        text.withContiguousStorageIfAvailable { bytes in
            guard let start = bytes.baseAddress else { return false }
            return memchr(start, 0x20, bytes.count) != nil
        } ?? text.contains(UInt8(ascii: " "))
    }

    /// The token of a header; `nil` when it is of another scheme.
    package static func token(in header: String) -> String? {
        let usual = "Bearer "
        if header.hasPrefix(usual), header.utf8.count > usual.utf8.count {
            let rest = header.utf8.dropFirst(usual.utf8.count)
            if !holdsBlank(rest) { return String(Substring(rest)) }
        }
        let parts = header.utf8.split(separator: UInt8(ascii: " "))
        guard parts.count == 2, String(Substring(parts[0])).lowercased() == "bearer" else { return nil }
        return String(Substring(parts[1]))
    }
}

extension Exchange {
    /// The administrator's bearer; only the header carries it, as addresses end up in logs.
    /// - Throws: `access_denied`.
    package func administrator() throws(Fault) -> String {
        let sent = headers[values: .authorization]
        let parts = sent.first?.split(separator: " ") ?? []
        guard sent.count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw Fault(.accessDenied, "An administrator's bearer is required.")
        }
        return String(parts[1])
    }
}
