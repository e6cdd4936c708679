import Clocks
import Testing
import Tokens

/// Keys that change without a restart (design §4).
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
        #expect(!keys.advance(now: Self.start + .seconds(599)))
        #expect(keys.signing == Key("a") && names(keys) == ["a", "b"])
        #expect(keys.advance(now: Self.start + .seconds(600)))
        #expect(keys.signing == Key("b") && names(keys) == ["b", "a"])
    }

    @Test func aKeyThatWasAnnouncedLongEnoughSignsAtOnce() {
        var keys = succession(next: "b")
        #expect(names(keys) == ["a", "b"])
        let later = Self.start + .seconds(600)
        keys.adopt(current: Key("b"), next: Key("c"), now: later)
        #expect(keys.advance(now: later))
        #expect(keys.signing == Key("b") && names(keys) == ["b", "c", "a"])
    }

    @Test func anOldKeyStaysPublishedUntilItsTokensAreOver() {
        var keys = succession(next: "b")
        let change = Self.start + .seconds(700)
        keys.adopt(current: Key("b"), next: nil, now: change)
        _ = keys.advance(now: change)
        #expect(!keys.advance(now: change + .seconds(3599)))
        #expect(names(keys) == ["b", "a"])
        #expect(keys.advance(now: change + .seconds(3600)))
        #expect(names(keys) == ["b"])
    }

    @Test func readingTheSameFilesAgainChangesNothing() {
        var keys = succession(next: "b")
        keys.adopt(current: Key("a"), next: Key("b"), now: Self.start + .seconds(5))
        #expect(!keys.advance(now: Self.start + .seconds(5)))
        keys.adopt(current: Key("b"), next: nil, now: Self.start + .seconds(600))
        #expect(keys.advance(now: Self.start + .seconds(600)), "published since the start, not since the second reading")
    }

    @Test func aKeyThatIsTakenBackNeverSigns() {
        var keys = succession()
        keys.adopt(current: Key("b"), next: nil, now: Self.start)
        keys.adopt(current: Key("a"), next: nil, now: Self.start + .seconds(10))
        #expect(!keys.advance(now: Self.start + .seconds(9000)))
        #expect(names(keys) == ["a"])
    }
}
