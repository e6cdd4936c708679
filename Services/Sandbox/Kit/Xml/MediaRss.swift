/// The resource that a Media RSS document names: a channel, and perhaps a title on it with its rating.
package struct MediaRss: Sendable, Equatable {
    /// The item's `guid`, else the channel's title.
    package let identifier: String
    /// The channel's title.
    package let channel: String
    /// At most one.
    package let ratings: [String]

    /// - Throws: `SettingsFault` when it is no such document.
    package init(parsing document: [UInt8]) throws(SettingsFault) {
        let root: XmlElement
        do {
            root = try XmlElement(parsing: document)
        } catch {
            throw SettingsFault(key: "mrss", problem: "is no XML: \(error.reason)")
        }
        guard root.name == "rss", let channel = root.only("channel", in: ""), let title = channel.only("title", in: "")?.text else {
            throw SettingsFault(key: "mrss", problem: "has no channel with a title")
        }
        let item = channel.only("item", in: "")
        let ratings = [item, channel].compactMap { $0 }.flatMap(\.children).filter { $0.name == "rating" }.compactMap(\.text)
        identifier = item?.only("guid", in: "")?.text ?? title
        self.channel = title
        self.ratings = Array(ratings.prefix(1))
    }
}
