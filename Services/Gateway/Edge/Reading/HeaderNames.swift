internal import HTTPTypes
internal import Hummingbird

/// Header fields that HTTPTypes has no name for. The unwraps hold: each name is a valid token (RFC 9110 §5.6.2).
extension HTTPFields.Element.Name {
    static let xForwardedFor = Self("X-Forwarded-For")!
    static let xForwardedHost = Self("X-Forwarded-Host")!
    static let xForwardedProto = Self("X-Forwarded-Proto")!
    static let refresh = Self("Refresh")!
    static let forwarded = Self("Forwarded")!
    static let xDeviceInfo = Self("X-Device-Info")!
    static let apPartnerFrameworkStatus = Self("AP-Partner-Framework-Status")!
    static let apTempPassIdentity = Self("AP-TempPass-Identity")!
    static let apDeviceIdentifier = Self("AP-Device-Identifier")!
    /// Of the web SDK: the device's id, and the same sealed.
    static let webDeviceID = Self("Ap_21")!
    static let deviceSeal = Self("pass_sfp")!
    static let idempotencyKey = Self("Idempotency-Key")!
    static let secFetchDest = Self("Sec-Fetch-Dest")!
    static let testResult = Self("Boxoffice-Test-Result")!
    static let secFetchSite = Self("Sec-Fetch-Site")!
    static let adobeSubjectToken = Self("Adobe-Subject-Token")!
    static let rokuConnectToken = Self("X-Roku-Reserved-Roku-Connect-Token")!
    static let adServiceToken = Self("AD-Service-Token")!
    static let xSsoID = Self("X-SSO-ID")!
    static let xSsoLink = Self("X-SSO-LINK")!
    static let adobeRequestID = Self("Adobe-Request-Id")!
    static let adobeResponseConfidence = Self("Adobe-Response-Confidence")!
    static let traceparent = Self("traceparent")!
    static let tracestate = Self("tracestate")!
    static let referrerPolicy = Self("Referrer-Policy")!
    static let strictTransportSecurity = Self("Strict-Transport-Security")!
    static let pragma = Self("Pragma")!
}

extension HTTPFields {
    /// As the subscript, which copies every value that it finds, even the usual single one.
    func value(_ name: HTTPField.Name) -> String? {
        var found: String?
        for field in self where field.name == name {
            guard found == nil else { return self[name] }
            found = field.value
        }
        return found
    }
}
