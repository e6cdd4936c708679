import Clocks
import Testing
import Tokens

/// Keys that change without a restart (decision 0052).
@Suite struct KeySuccessionTests {
    private struct Key: SuccessiveKey, Equatable {
        let identifier: String

        init(_ identifier: String) { self.identifier = identifier }
    }

    private static let start = Timestamp(seconds: 1_741_083_330)

    private func succession(next: String? = nil) -> KeySuccession<Key> {
        KeySuccession(current: Key("a"), next: next.map(Key.init), lead: .seconds(600), tokenLife: .seconds(3600), now: Self.start)
    }

    private func names(_ keys: KeySuccession<Key>) -> [String] { keys.published.map(\.identifier) }

    @Test func aNewKeyIsPublishedBeforeItSigns() {
        var keys = succession()
        keys.adopt(current: Key("b"), next: nil, now: Self.start)
        let isEarly = keys.advance(now: Self.start + .seconds(599))
        #expect(!isEarly)
        #expect(keys.signing == Key("a") && names(keys) == ["a", "b"])
        let isDue = keys.advance(now: Self.start + .seconds(600))
        #expect(isDue)
        #expect(keys.signing == Key("b") && names(keys) == ["b", "a"])
    }

    @Test func aKeyThatWasAnnouncedLongEnoughSignsAtOnce() {
        var keys = succession(next: "b")
        #expect(names(keys) == ["a", "b"])
        let later = Self.start + .seconds(600)
        keys.adopt(current: Key("b"), next: Key("c"), now: later)
        let tookOver = keys.advance(now: later)
        #expect(tookOver)
        #expect(keys.signing == Key("b") && names(keys) == ["b", "c", "a"])
    }

    @Test func anOldKeyStaysPublishedUntilItsTokensAreOver() {
        var keys = succession(next: "b")
        let change = Self.start + .seconds(700)
        keys.adopt(current: Key("b"), next: nil, now: change)
        _ = keys.advance(now: change)
        let isStillNeeded = keys.advance(now: change + .seconds(3599))
        #expect(!isStillNeeded)
        #expect(names(keys) == ["b", "a"])
        let isForgotten = keys.advance(now: change + .seconds(3600))
        #expect(isForgotten)
        #expect(names(keys) == ["b"])
    }

    @Test func readingTheSameFilesAgainChangesNothing() {
        var keys = succession(next: "b")
        keys.adopt(current: Key("a"), next: Key("b"), now: Self.start + .seconds(5))
        let changed = keys.advance(now: Self.start + .seconds(5))
        #expect(!changed)
        keys.adopt(current: Key("b"), next: nil, now: Self.start + .seconds(600))
        let wasPublishedLong = keys.advance(now: Self.start + .seconds(600))
        #expect(wasPublishedLong, "published since the start, not since the second reading")
    }

    @Test func aKeyThatIsTakenBackNeverSigns() {
        var keys = succession()
        keys.adopt(current: Key("b"), next: nil, now: Self.start)
        keys.adopt(current: Key("a"), next: nil, now: Self.start + .seconds(10))
        let everSigned = keys.advance(now: Self.start + .seconds(9000))
        #expect(!everSigned)
        #expect(names(keys) == ["a"])
    }
}
