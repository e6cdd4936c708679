internal import Identifiers

enum AccountSubject {}
enum FamilySubject {}
enum TokenSubject {}
enum StreamingSessionSubject {}
enum AppleLinkSubject {}
enum ProgrammerSubject {}
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
typealias RequestorID = Identifiers.RequestorID
typealias MvpdID = Identifiers.MvpdID
typealias ClientID = Identifiers.ClientID
typealias DeviceID = Identifiers.DeviceID
typealias AppleTeamID = Identifier<AppleTeamSubject>
/// Apple's id of an app: a bundle id or a Services ID.
typealias AppleClientID = Identifier<AppleClientSubject>
