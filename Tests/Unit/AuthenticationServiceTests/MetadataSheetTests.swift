import Clocks
import Contracts
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

@Suite("What metadata tell")
struct MetadataSheetTests {
    private static let attributes = [
        UserAttribute(key: "userID", values: ["ada"]), UserAttribute(key: "householdID", values: ["house-1"]),
        UserAttribute(key: "zip", values: ["12345", "67890"]), UserAttribute(key: "channelID", values: ["a"]),
        UserAttribute(key: "hba_status", values: ["true"]), UserAttribute(key: "onNet", values: ["maybe"]),
        UserAttribute(key: "is_hoh", values: ["1"]), UserAttribute(key: "maxRating.MPAA", values: ["PG"]),
        UserAttribute(key: "maxRating.VCHIP", values: ["TV-14"]), UserAttribute(key: "encryptedZip", values: ["c2VhbGVk"]),
    ]

    private static func session(_ kind: SessionKind = .regular, attributes: [UserAttribute] = attributes) -> SessionRecord {
        var sample = Sample.session(origin: SessionOrigin(kind: kind, authenticatedAt: t0))
        sample.subject.attributes = attributes
        return sample
    }

    private static func sheet(_ keys: [MetadataKey], _ session: SessionRecord = session(), trial: TempPassFacts? = nil) -> [MetadataSheet.Item] {
        MetadataSheet(session, keys: keys, trial: trial).items
    }

    private static func value(_ key: String) -> MetadataEntry.Value? { sheet([MetadataKey(key: key)]).first?.value }

    @Test("rest-v1 §8: each key has its type")
    func types() {
        #expect(Self.value("householdID") == .text("house-1"))
        #expect(Self.value("is_hoh") == .text("1"))
        #expect(Self.value("hba_status") == .flag(true))
        #expect(Self.value("zip") == .list(TextList(values: ["12345", "67890"])))
        #expect(Self.value("channelID") == .list(TextList(values: ["a"])))
        #expect(
            Self.value("maxRating")
                == .map(TextMap(entries: [TextMapEntry(key: "MPAA", value: "PG"), TextMapEntry(key: "VCHIP", value: "TV-14")])))
        #expect(Self.value("onNet") == nil)
        #expect(Self.value("language") == nil)
    }

    @Test("only what the integration enables is told, in its order; of an object also single parts")
    func enabledOnly() {
        let items = Self.sheet([MetadataKey(key: "maxRating.VCHIP"), MetadataKey(key: "householdID"), MetadataKey(key: "language")])
        #expect(items.map(\.key) == ["maxRating", "householdID"])
        #expect(items.first?.value == .map(TextMap(entries: [TextMapEntry(key: "VCHIP", value: "TV-14")])))
        #expect(Self.sheet([]).isEmpty)
    }

    @Test("the upstream id is told where the MVPD's map has no entry for it")
    func upstreamID() {
        let session = Self.session(attributes: [])
        let items = Self.sheet([MetadataKey(key: "userID"), MetadataKey(key: "upstreamUserID"), MetadataKey(key: "householdID")], session)
        #expect(items.map(\.value) == [.text("user-42"), .text("user-42")])
    }

    @Test("zip is encrypted whatever the record says; what the MVPD encrypted is passed on")
    func encryption() {
        let keys = [MetadataKey(key: "zip"), MetadataKey(key: "encryptedZip", encrypted: true), MetadataKey(key: "userID", encrypted: true)]
        #expect(Self.sheet(keys).map(\.isEncrypted) == [true, false, true])
    }

    @Test("rest-v1 §6.1: a degraded session tells its userID alone")
    func degraded() {
        let items = Self.sheet([MetadataKey(key: "householdID"), MetadataKey(key: "zip", encrypted: true)], Self.session(.degraded))
        #expect(items == [MetadataSheet.Item(key: "userID", value: .text("0123"), isEncrypted: false)])
    }

    @Test("rest-v1 §8: tokenSource is told of a platform's session only")
    func tokenSource() {
        let source = MetadataSheet.Item(key: "tokenSource", value: .text("Apple"), isEncrypted: false)
        #expect(Self.sheet([], Self.session(.platform)) == [source])
        for kind in [SessionKind.regular, .shared, .tempPass, .degraded] {
            #expect(!Self.sheet([MetadataKey(key: "tokenSource")], Self.session(kind)).contains { $0.key == "tokenSource" })
        }
    }

    @Test("rest-v1 §6.2: a trial's end, and of a promotional one what is left and what was used")
    func trial() {
        let end = t0 + .seconds(600)
        let basic = Self.sheet([], Self.session(.tempPass), trial: TempPassFacts(expiresAt: end, remainingResources: nil, usedResources: nil))
        #expect(basic == [MetadataSheet.Item(key: "expiration_date", value: .number(end.milliseconds), isEncrypted: false)])
        let promotional = Self.sheet(
            [], Self.session(.tempPass), trial: TempPassFacts(expiresAt: end, remainingResources: 0, usedResources: ["A", "B"]))
        #expect(promotional.map(\.key) == ["remaining_resources", "used_assets", "expiration_date"])
        #expect(promotional.map(\.value) == [.number(0), .list(TextList(values: ["A", "B"])), .number(end.milliseconds)])
    }
}
