@testable import AutoSignInService
import Clocks
import Testing

@Suite("Apple's keys at hand")
struct AppleKeyCacheTests {
    private let start = TokenMaker.now
    private let old = AppleKeySet(["old": .usable(TokenMaker.keys[0].publicKey)])
    private let both = AppleKeySet(["old": .usable(TokenMaker.keys[0].publicKey), "new": .usable(TokenMaker.keys[1].publicKey)])

    private func filled(maxAge: Duration? = nil) -> AppleKeyCache {
        var cache = AppleKeyCache()
        cache.fetched(old, maxAge: maxAge, now: start)
        return cache
    }

    private func word(_ step: AppleKeyCache.Step) -> String {
        switch step {
        case .fetch: "fetch"
        case .answer(let finding): word(finding)
        }
    }

    private func word(_ finding: AppleKeyCache.Finding) -> String {
        switch finding {
        case .known: "known"
        case .unknown: "unknown"
        case .unavailable: "unavailable"
        }
    }

    @Test("an empty cache fetches, and after a failure waits a little before it does so again")
    func fetchesFirst() {
        var cache = AppleKeyCache()
        #expect(word(cache.find("old", now: start)) == "fetch")
        cache.failed(now: start)
        #expect(word(cache.find("old", now: start + .seconds(4))) == "unavailable")
        #expect(word(cache.find("old", now: start + .seconds(5))) == "fetch")
    }

    @Test("keys serve for max-age, or for 24 hours", arguments: [nil, Duration.seconds(600)])
    func servesForItsTime(maxAge: Duration?) {
        var cache = filled(maxAge: maxAge)
        let end = start + (maxAge ?? .seconds(86_400))
        #expect(word(cache.find("old", now: end - .seconds(1))) == "known")
        #expect(word(cache.find("old", now: end)) == "fetch")
    }

    @Test("apple #39: an unknown name causes one fetch in a minute")
    func refetchesOncePerMinute() {
        var cache = filled()
        let now = start + .seconds(3)
        #expect(word(cache.find("new", now: now)) == "fetch")
        cache.fetched(both, maxAge: nil, now: now)
        #expect(word(cache.conclude("new", now: now)) == "known")
        #expect(word(cache.find("third", now: now + .seconds(59))) == "unknown")
        #expect(word(cache.find("third", now: now + .seconds(60))) == "fetch")
    }

    @Test("apple #40: a key that was dropped is unknown after the next fetch")
    func forgetsDroppedKeys() {
        var cache = AppleKeyCache()
        cache.fetched(both, maxAge: .seconds(60), now: start)
        cache.fetched(old, maxAge: .seconds(60), now: start + .seconds(61))
        #expect(word(cache.conclude("new", now: start + .seconds(61))) == "unknown")
    }

    @Test("apple #65: while Apple is away old keys serve for 72 hours, and it is asked once a minute")
    func servesStaleKeys() {
        var cache = filled(maxAge: .seconds(3_600))
        let later = start + .seconds(10 * 3_600)
        #expect(word(cache.find("old", now: later)) == "fetch")
        cache.failed(now: later)
        #expect(word(cache.conclude("old", now: later)) == "known")
        #expect(word(cache.find("old", now: later + .seconds(59))) == "known")
        #expect(word(cache.find("old", now: later + .seconds(60))) == "fetch")
        // It is then unknown whether the key exists.
        #expect(word(cache.conclude("new", now: later)) == "unavailable")
        let tooLate = start + .seconds(73 * 3_600)
        cache.failed(now: tooLate)
        #expect(word(cache.conclude("old", now: tooLate)) == "unavailable")
    }

    @Test("published keys: weak ones are known as such, others and broken ones are passed over")
    func readsDocument() throws {
        let document = """
            {"keys":[{"kty":"RSA","kid":"weak","use":"sig","alg":"RS256","n":"\(String(repeating: "-", count: 171))8","e":"AQAB"},
            {"kty":"EC","kid":"curve","crv":"P-256","x":"AA","y":"AA"},{"kty":"RSA","kid":"broken","n":"!","e":"AQAB"},{"kty":"RSA"},7,
            {"kty":"RSA","kid":"enc","use":"enc","n":"AQAB","e":"AQAB"},\
            \(String(decoding: TokenMaker.document([("good", TokenMaker.keys[0].publicKey)]), as: UTF8.self).dropFirst(9).dropLast(2))]}
            """
        let keys = try #require(AppleKeySet(document: Array(document.utf8)))
        guard case .usable? = keys.key("good") else { Issue.record("the good key is missing"); return }
        guard case .weak? = keys.key("weak") else { Issue.record("the weak key is not known as weak"); return }
        for name in ["curve", "broken", "enc"] { #expect(keys.key(name) == nil) }
        for text in ["", "{}", "[]", "{\"keys\":{}}"] { #expect(AppleKeySet(document: Array(text.utf8)) == nil) }
    }
}
