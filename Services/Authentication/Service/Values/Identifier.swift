/// An id that cannot be mistaken for the id of something else. Compared byte by byte.
struct Identifier<Subject>: Hashable, Sendable, CustomStringConvertible {
    let text: String

    init(_ text: String) { self.text = text }

    var description: String { text }
}

enum ClientSubject {}
enum SoftwareSubject {}
enum RequestorSubject {}
enum MvpdSubject {}
enum DeviceSubject {}
enum RegistrationRecordSubject {}
enum UpstreamRequestSubject {}
enum SessionSubjectTag {}
enum DegradationRuleSubject {}
enum PlatformIdentitySubject {}
enum TrialSubject {}
enum TrialUserSubject {}

typealias ClientID = Identifier<ClientSubject>
typealias SoftwareID = Identifier<SoftwareSubject>
typealias RequestorID = Identifier<RequestorSubject>
typealias MvpdID = Identifier<MvpdSubject>
typealias DeviceID = Identifier<DeviceSubject>
/// Names a registration code's record for good; the code itself may be given out again later.
typealias RegistrationRecordID = Identifier<RegistrationRecordSubject>
/// Names a request to an MVPD that is answered through a browser: an AuthnRequest, a LogoutRequest, or an authorization request of OAuth.
typealias UpstreamRequestID = Identifier<UpstreamRequestSubject>
typealias SessionID = Identifier<SessionSubjectTag>
typealias DegradationRuleID = Identifier<DegradationRuleSubject>
/// Who a platform says that its user is: the digest of issuer and subject (rest-v1 §2.6).
typealias PlatformIdentity = Identifier<PlatformIdentitySubject>
/// A trial of a TempPass (rest-v1 §6.2).
typealias TrialID = Identifier<TrialSubject>
/// Who is on trial, as the programmer names them: a digest in lower-case hex (rest-v1 §3.21).
typealias TrialUser = Identifier<TrialUserSubject>
