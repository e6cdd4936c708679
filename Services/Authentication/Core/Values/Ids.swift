internal import Identifiers
internal import SamlExplanation

enum SoftwareSubject {}
enum RegistrationRecordSubject {}
enum SessionSubjectTag {}
enum DegradationRuleSubject {}
enum PlatformIdentitySubject {}
enum ServiceIdentitySubject {}
enum ServicePersonSubject {}
enum ServiceTieSubject {}
enum ProgrammerSubject {}
enum TrialSubject {}
enum TrialUserSubject {}

typealias ClientID = Identifiers.ClientID
typealias SoftwareID = Identifier<SoftwareSubject>
typealias RequestorID = Identifiers.RequestorID
typealias MvpdID = Identifiers.MvpdID
typealias DeviceID = Identifiers.DeviceID
/// Names a registration code's record for good; the code itself may be given out again later.
typealias RegistrationRecordID = Identifier<RegistrationRecordSubject>
typealias UpstreamRequestID = SamlExplanation.UpstreamRequestID
typealias SessionID = Identifier<SessionSubjectTag>
typealias DegradationRuleID = Identifier<DegradationRuleSubject>
/// Who a platform says that its user is: the digest of issuer and subject (rest-v1 §2.6).
typealias PlatformIdentity = Identifier<PlatformIdentitySubject>
/// Whom a service token names: a digest that no two issuers share (rest-v2 §1.3).
typealias ServiceIdentity = Identifier<ServiceIdentitySubject>
/// A person of our own service tokens: `sub`.
typealias ServicePersonID = Identifier<ServicePersonSubject>
/// What ties a device to such a person.
typealias ServiceTieID = Identifier<ServiceTieSubject>
typealias ProgrammerID = Identifier<ProgrammerSubject>
/// A trial of a TempPass (rest-v1 §6.2).
typealias TrialID = Identifier<TrialSubject>
/// Who is on trial, as the programmer names them: a digest in lower-case hex (rest-v1 §3.21).
typealias TrialUser = Identifier<TrialUserSubject>
