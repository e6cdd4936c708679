/// An id that cannot be mistaken for the id of something else. Compared byte by byte.
struct Identifier<Subject>: Hashable, Sendable, CustomStringConvertible {
    let text: String

    init(_ text: String) { self.text = text }

    var description: String { text }
}

enum AccountSubject {}
enum FamilySubject {}
enum TokenSubject {}
enum StreamingSessionSubject {}
enum AppleLinkSubject {}
enum ProgrammerSubject {}
enum RequestorSubject {}
enum MvpdSubject {}
enum ClientSubject {}
enum DeviceSubject {}
enum AppleTeamSubject {}
enum AppleClientSubject {}

/// A person at a programmer (apple §1.4).
typealias AccountID = Identifier<AccountSubject>
/// The tokens of one opt-in.
typealias FamilyID = Identifier<FamilySubject>
/// The part of a value by which it is looked up: 22 characters.
typealias TokenID = Identifier<TokenSubject>
/// The authn token's id, where there is one.
typealias StreamingSessionID = Identifier<StreamingSessionSubject>
typealias AppleLinkID = Identifier<AppleLinkSubject>
typealias ProgrammerID = Identifier<ProgrammerSubject>
typealias RequestorID = Identifier<RequestorSubject>
typealias MvpdID = Identifier<MvpdSubject>
/// A registered client of this service, not one of Apple's.
typealias ClientID = Identifier<ClientSubject>
typealias DeviceID = Identifier<DeviceSubject>
typealias AppleTeamID = Identifier<AppleTeamSubject>
/// What Apple knows an app by: a bundle id or a Services ID.
typealias AppleClientID = Identifier<AppleClientSubject>
