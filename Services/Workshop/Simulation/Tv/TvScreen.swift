internal import EntitlementClient
internal import Foundation

/// The screen of one simulated TV.
struct TvScreen: Sendable {
    /// A channel of the list.
    struct Channel: Sendable, Equatable {
        enum Lock: Sendable, Equatable {
            /// Nobody is signed in, so nobody knows.
            case unknown
            case open
            /// - Parameter reason: The provider's words, or empty.
            case locked(reason: String)
        }

        let id: String
        var lock = Lock.unknown
    }

    /// A line of a list to choose from.
    struct Choice: Sendable, Equatable {
        let id: String
        let title: String
        var note = ""
    }

    enum Page: Sendable {
        case channels
        /// The app's picker, or the device's settings.
        case list(title: String, note: String, [Choice])
        case code(CodeText, until: ContinuousClock.Instant)
        case playing(channel: String, facts: [(name: String, value: String)], since: ContinuousClock.Instant)
        /// A question of the system, with yes and no.
        case sheet(title: String, text: String)
    }

    /// The name of the device: `Living room`.
    let name: String
    /// The name of the brand.
    let brand: String
    var channels: [Channel]
    var page = Page.channels
    /// The line that is chosen, of the channels or the list.
    var selection = 0
    private var chosenChannel = 0
    var session: Session?
    /// In the upper corner; `nil`: who is signed in.
    var corner: String?
    /// Where the device itself is signed in, by its settings.
    var systemProvider: String?
    /// The work that is under way.
    var busy: String?
    /// The last event.
    var message = ""
    var isBadNews = false

    init(name: String, brand: String, channels: [Channel]) { (self.name, self.brand, self.channels) = (name, brand, channels) }

    /// The number of lines that can be chosen.
    var lineCount: Int {
        switch page {
        case .channels: channels.count
        case .list(_, _, let choices): choices.count
        case .sheet: 2
        case .code, .playing: 0
        }
    }

    mutating func move(_ step: Int) {
        guard lineCount > 0 else { return }
        selection = (selection + step + lineCount) % lineCount
    }

    /// The channel that was chosen last is still chosen when the channels come back.
    mutating func show(_ page: Page) {
        switch (self.page, page) {
        case (.channels, .channels): return
        case (.channels, _): (chosenChannel, selection) = (selection, 0)
        case (_, .channels): selection = chosenChannel
        default: selection = 0
        }
        self.page = page
    }

    mutating func tell(_ message: String, isBad: Bool = false) { (self.message, isBadNews, busy) = (message, isBad, nil) }
}
