//! Beside the class: whether a tool reads what is private, returns what others wrote, sends what it is given outside.

use crate::assessment::{DataFlags, RiskClass};
use crate::definition::ToolDefinition;
use crate::lexicon::has_any;
use crate::schema::SchemaReading;
use crate::words::{sentences, split_name, split_sentence};

const PRIVATE: &str = "file files directory folder document documents email emails mail inbox message messages dm \
    conversation chat clipboard env environment variable secret secrets credential credentials password token key vault cookie \
    cookies session customer customers contact contacts calendar event profile account accounts balance invoice invoices \
    payment payments transaction transactions order orders record records database table row query sql memory graph note notes \
    screenshot screen history medical patient employee user users repository repo code drive bucket object blob log logs \
    recording transcript call voicemail location device wallet portfolio";

const OF_OTHERS: &str = "web page pages url website site html search browse crawl scrape email emails mail inbox message messages \
    thread channel issue issues comment comments discussion review reviews pull ticket tickets post posts tweet tweets reddit feed \
    rss news article articles forum chat transcript video readme gist wiki text snapshot dom console document documents \
    file files repository code release notification notifications advisory response content contents";

const SENDS: &str = "send email mail message post publish upload share tweet comment reply notify invite forward broadcast webhook \
    push request http fetch navigate call dial sms submit browse crawl scrape search";

pub(crate) fn read(tool: &ToolDefinition<'_>, class: RiskClass, schema: &SchemaReading) -> DataFlags {
    let name = split_name(tool.name);
    let first = sentences(tool.description).into_iter().next().unwrap_or_default();
    let said = split_sentence(first);
    let words = || name.iter().map(String::as_str).chain(said.iter().take(20).map(|word| word.text.as_str()));
    let returns = matches!(class, RiskClass::Read | RiskClass::Execute);
    let acts_outside = class != RiskClass::Read
        || has_any(words(), "http url web website browse crawl scrape navigate internet online page")
        || !schema.urls.is_empty();
    DataFlags {
        reads_private_data: returns && (has_any(words(), PRIVATE) || !schema.paths.is_empty()),
        returns_text_of_others: returns && has_any(words(), OF_OTHERS),
        sends_outside: acts_outside && (has_any(words(), SENDS) || !schema.urls.is_empty()),
    }
}
