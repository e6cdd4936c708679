internal import HTTPTypes
package import Hummingbird

/// Header fields that HTTPTypes has no name for. The unwraps hold: each name is a valid token (RFC 9110 §5.6.2).
extension HTTPFields.Element.Name {
    static let xForwardedFor = Self("X-Forwarded-For")!
    static let xForwardedHost = Self("X-Forwarded-Host")!
    static let xForwardedProto = Self("X-Forwarded-Proto")!
    package static let refresh = Self("Refresh")!
    static let forwarded = Self("Forwarded")!
    package static let xDeviceInfo = Self("X-Device-Info")!
    package static let apPartnerFrameworkStatus = Self("AP-Partner-Framework-Status")!
    package static let apTempPassIdentity = Self("AP-TempPass-Identity")!
    package static let apDeviceIdentifier = Self("AP-Device-Identifier")!
    /// The header fields of the web SDK: the device's id, and the same sealed.
    package static let webDeviceID = Self("Ap_21")!
    package static let deviceSeal = Self("pass_sfp")!
    package static let idempotencyKey = Self("Idempotency-Key")!
    package static let secFetchDest = Self("Sec-Fetch-Dest")!
    package static let secFetchMode = Self("Sec-Fetch-Mode")!
    package static let testResult = Self("Boxoffice-Test-Result")!
    package static let secFetchSite = Self("Sec-Fetch-Site")!
    package static let adobeSubjectToken = Self("Adobe-Subject-Token")!
    package static let rokuConnectToken = Self("X-Roku-Reserved-Roku-Connect-Token")!
    package static let adServiceToken = Self("AD-Service-Token")!
    package static let xSsoID = Self("X-SSO-ID")!
    package static let xSsoLink = Self("X-SSO-LINK")!
    static let adobeRequestID = Self("Adobe-Request-Id")!
    package static let adobeResponseConfidence = Self("Adobe-Response-Confidence")!
    static let traceparent = Self("traceparent")!
    static let tracestate = Self("tracestate")!
    static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
    static let referrerPolicy = Self("Referrer-Policy")!
    static let strictTransportSecurity = Self("Strict-Transport-Security")!
    package static let pragma = Self("Pragma")!
}

extension HTTPFields {
    /// As the subscript, which copies every value that it finds, even the usual single one.
    package func value(_ name: HTTPField.Name) -> String? {
        var found: String?
        for field in self where field.name == name {
            guard found == nil else { return self[name] }
            found = field.value
        }
        return found
    }
}
